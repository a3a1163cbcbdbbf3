"""Reading pages: the guard at the door, the fetch chain, and the text that is left when the furniture is gone."""
