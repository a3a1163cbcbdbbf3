raise RuntimeError("this plug-in was never finished")
