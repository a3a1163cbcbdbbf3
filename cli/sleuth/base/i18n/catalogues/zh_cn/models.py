"""Language models: what goes wrong with them."""

MESSAGES: dict[str, str] = {
    "the model at {server} could not answer: {detail}": "{server} 的模型无法回答：{detail}",
    "see what is wrong with it: sleuth doctor --only model": "查看问题所在：sleuth doctor --only model",
    "{server} rejects the key of the model: {detail}": "{server} 拒绝了模型的密钥：{detail}",
    "set another key: sleuth config set llm.api_key -": "重新设置密钥：sleuth config set llm.api_key -",
    "{server} limits how often the model may be asked: {detail}": "{server} 限制了模型的请求频率：{detail}",
    "try later": "请稍后再试",
    "try again": "请重试",
    "try again in {wait:.0f} s": "请在 {wait:.0f} 秒后重试",
    "the account at {server} is used up: {detail}": "{server} 的账户额度已用完：{detail}",
    "top it up, or ask another server: sleuth config set llm.base_url URL": (
        "请充值，或换用其他服务器：sleuth config set llm.base_url URL"
    ),
    "the model at {server} did not answer within {seconds:g} s": "{server} 的模型未在 {seconds:g} 秒内回答",
    "try again; a smaller model is quicker: sleuth config set llm.model NAME": (
        "请重试；较小的模型更快：sleuth config set llm.model NAME"
    ),
    "the model at {server} cannot be reached: {detail}": "无法连接 {server} 的模型：{detail}",
    "the reply of the model at {server} broke off: {detail}": "{server} 的模型的回答中断：{detail}",
    "the model at {server} is unavailable: {detail}": "{server} 的模型暂不可用：{detail}",
    "{server} does not accept the request: {detail}": "{server} 不接受这个请求：{detail}",
    "{server} has no model {model!r}: {detail}": "{server} 没有模型 {model!r}：{detail}",
    "see which it has: sleuth doctor --only model, then: sleuth config set llm.model NAME": (
        "查看有哪些模型：sleuth doctor --only model，然后：sleuth config set llm.model NAME"
    ),
    "the text is too long for the model at {server}: {detail}": "文本对 {server} 的模型来说太长：{detail}",
    "let fewer pages be read: sleuth config set ask.pages 1": "减少读取的页面：sleuth config set ask.pages 1",
    "{server} sent an answer that cannot be read: {detail}": "{server} 返回了无法读取的内容：{detail}",
    "no model answers at {address}: {detail}": "{address} 没有模型应答：{detail}",
    "most endpoints end in /v1: sleuth config set llm.base_url https://HOST/v1": (
        "多数端点以 /v1 结尾：sleuth config set llm.base_url https://HOST/v1"
    ),
    "the key of the model would travel unencrypted to {place}, and was not sent": (
        "模型的密钥会以明文发往 {place}，因此没有发送"
    ),
    "use https: sleuth config set llm.base_url {secure}": "请使用 https：sleuth config set llm.base_url {secure}",
    "write it like https://HOST/v1: sleuth config set llm.base_url URL": (
        "写法如 https://HOST/v1：sleuth config set llm.base_url URL"
    ),
    "llm.base_url is no address one can ask: {detail}": "llm.base_url 不是可访问的地址：{detail}",
}
