"""Data for `urls`: how particular sites write the URLs of one page in several ways."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Tracking parameters, which never change the page. Names are in lower case.
TRACKING = _names("""
    fbclid gclid gclsrc dclid gbraid wbraid gad_source gad_campaignid srsltid msclkid yclid ysclid _openstat twclid
    ttclid li_fat_id igshid igsh mibextid epik irclickid irgwc cjevent rb_clickid wickedid ascsubtag ef_id s_cid s_kwcid
    mc_cid mc_eid mc_tc mkt_tok ml_subscriber ml_subscriber_hash vero_id vero_conv oly_enc_id oly_anon_id dm_i _kx __s
    elqtrackid elqtrack _ga _gl _gac _hsenc _hsmi __hssc __hstc __hsfp hsctatracking hootpostid sr_share
    ref_ ref_src ref_url __twitter_impression guccounter guce_referrer guce_referrer_sig cmpid ncid ocid icid xtor
    wt.mc_id wt_mc wt_zmc pk_campaign pk_kwd pk_keyword pk_source pk_medium pk_content pk_cid
    ns_mchannel ns_source ns_campaign ns_linkname ns_fee at_medium at_campaign at_campaign_type at_format
    fb_action_ids fb_action_types fb_source fb_ref action_object_map action_type_map action_ref_map __tn__
    gs_l os_ehash wtrid emc echobox tracking_source ceneo_spo
    gws_rd usqp amp_js_v amp_gsa amp_lite amp_r amp_ct
    spm vd_source chksm scene isappinstalled from_source from_spmid sharer_sharetime sharer_shareid
    sharer_shareinfo sharer_shareinfo_first hb_wx_block buvid bbid unique_k plat_id xsec_token xsec_source
    ops_request_misc tt_from wxshare_count depth_1-utm_source
    jsessionid phpsessid cfid cftoken oscsid zenid
""")
TRACKING_PREFIXES = (
    *("utm_", "spm_", "share_", "hsa_", "mtm_", "matomo_", "piwik_", "stm_", "itm_", "otm_", "ga_", "hmb_", "vn_"),
    *("at_custom", "at_link_", "at_bbc_", "_trk", "aspsessionid", "__cft__"),
)

# Parameters that are tracking, a session or another form of the page only when their value looks like it.
TRACKING_VALUES = {
    "amp": r"|1|true|amp",
    "outputtype": r"amp",
    "scm": r"\d+\..*",
    "from": r"singlemessage|groupmessage|timeline",
    "sid": r"[0-9a-z]{20,}",
    "sessionid": r"[\w-]{16,}",
    "session_id": r"[\w-]{16,}",
    "s": r"[0-9a-f]{32}",
    "source": r".*-{3,}.*",  # Medium, also under its customers' own names
    "gi": r"[0-9a-f]{12}",
    "tab": r"readme-ov-file",
    "_": r"\d{10,}",  # the time, against caches
}

# Tracking on one site and below it; elsewhere the same names can mean anything.
TRACKING_ON = {
    "youtube.com": "feature si pp ab_channel app t start time_continue",
    "x.com": "s t",
    "medium.com": "source sk gi",
    "linkedin.com": "trk trkinfo trackingid refid lipi originalsubdomain",
    "nytimes.com": "smid smtyp",
    "facebook.com": "ref fref hc_ref hc_location rdid paipv eav _rdr",
    "spotify.com": "si context nd",
    "docs.google.com": "usp",
    "drive.google.com": "usp",
    "blogspot.com": "m",
    "wikipedia.org": "useskin oldformat mobileaction wprov",
    "wiktionary.org": "useskin oldformat mobileaction wprov",
    "zhihu.com": "from from_voters_page",
    "douban.com": "from _i dt_dapp dt_platform icn",
    "weibo.com": "from refer_flag wvr mod sudaref display retcode type",
    "csdn.net": "request_id biz_id",
    "163.com": "f from spss",
    "sina.com.cn": "from vt",
    "baidu.com": "fr wfr fromtitle fromid frommodule",
}

# The tables below are keyed by the first label of the registered host, so that few patterns are ever compiled.
# Patterns match host and path, without www. and m.

STACK_EXCHANGE = ("stackoverflow", "stackexchange", "superuser", "serverfault", "askubuntu")

# Pages that need only these parameters.
KEPT_ON = {
    "youtube": {r"youtube\.com/watch": "v"},
    "qq": {r"mp\.weixin\.qq\.com/s(?:/.*)?": "__biz mid idx sn"},
    "taobao": {r"item\.taobao\.com/.*": "id"},
    "tmall": {r"detail\.tmall\.com/.*": "id"},
    "jd": {r"item\.jd\.com/\d.*": ""},
    "amazon": {r"amazon\.[a-z.]+/dp/.*": "language"},
    "ebay": {r"ebay\.[a-z.]+/itm/.*": "var"},
    "aliexpress": {r"(?:[a-z]+\.)?aliexpress\.[a-z]+/item/.*": ""},
    "baidu": {r"baijiahao\.baidu\.com/s": "id", r"(?:baike|zhidao)\.baidu\.com/(?:item|question)/.*": ""},
    "zhihu": {r"zhuanlan\.zhihu\.com/p/.*": "", r"zhihu\.com/question/.*": "page sort"},
    "bilibili": {r"bilibili\.com/video/.*": "p"},
    "csdn": {r"blog\.csdn\.net/[^/]+/article/details/.*": ""},
    "tencent": {r"cloud\.tencent\.com/developer/article/.*": ""},
    "toutiao": {r"toutiao\.com/article/.*": ""},
    "douyin": {r"douyin\.com/video/.*": ""},
    "juejin": {r"juejin\.cn/post/.*": ""},
    "xiaohongshu": {r"xiaohongshu\.com/explore/.*": ""},
    "reddit": {r"reddit\.com/comments/.*": ""},
    "x": {r"x\.com/i/status/.*": ""},
    "tiktok": {r"tiktok\.com/@.*": ""},
    **{site: {r"[^/]+/questions/\d.*": "page"} for site in STACK_EXCHANGE},
}

# URLs of one page, and the form that is used for all of them.
REWRITTEN = {
    "google": {r"google(?:\.[a-z]{2,3}){1,2}/amp/(?:s/)?([^/]+\.[^/]+.*)": r"\1"},
    "bing": {r"bing\.com/amp/s/([^/]+\.[^/]+.*)": r"\1"},
    "ampproject": {r"[\w-]+\.cdn\.ampproject\.org/[cv]/(?:s/)?([^/]+\.[^/]+.*)": r"\1"},
    "youtu": {r"youtu\.be/([\w-]+)": r"youtube.com/watch?v=\1"},
    "youtube": {r"youtube\.com/(?:shorts|embed|live|v)/([\w-]{11})": r"youtube.com/watch?v=\1"},
    "youtube-nocookie": {r"youtube-nocookie\.com/embed/([\w-]{11})": r"youtube.com/watch?v=\1"},
    "twitter": {r"twitter\.com(/.*)?": r"x.com\1"},
    "x": {r"x\.com/[^/]+(?:/web)?/status(?:es)?/(\d+)(?:/(?:photo|video)/\d)?": r"x.com/i/status/\1"},
    "redd": {r"redd\.it/(\w+)": r"reddit.com/comments/\1"},
    "reddit": {
        r"(?:old|new|np|i)\.reddit\.com(/.*)?": r"reddit.com\1",
        r"reddit\.com/(?:r|u|user)/[^/]+/comments/(\w+)(?:/[^/]*)?": r"reddit.com/comments/\1",
        r"reddit\.com/(?:r|u|user)/[^/]+/comments/(\w+)/[^/]*/(\w+)": r"reddit.com/comments/\1/-/\2",
    },
    **{site: {r"([^/]+)/q(?:uestions)?/(\d+)(?:/.*)?": r"\1/questions/\2"} for site in STACK_EXCHANGE},
    "amazon": {r"(?:smile\.)?(amazon\.[a-z.]+)/(?:.*/)?(?:dp|gp/product|gp/aw/d)/([A-Z0-9]{10})(?:/.*)?": r"\1/dp/\2"},
    "ebay": {r"(ebay\.[a-z.]+)/itm/[^/]+/(\d+)": r"\1/itm/\2"},
    "medium": {r"(?:[\w-]+\.)?medium\.com/.*-([0-9a-f]{10,12})": r"medium.com/p/\1"},
    "github": {r"github\.com/([^/]+/[^/]+)\.git": r"github.com/\1"},
    "arxiv": {r"(?:export\.)?arxiv\.org/(abs|pdf)/(.+?)(?:\.pdf)?": r"arxiv.org/\1/\2"},
    "doi": {r"dx\.doi\.org(/.*)": r"doi.org\1"},
    "baidu": {r"wapbaike\.baidu\.com(/.*)": r"baike.baidu.com\1"},
    "zhihu": {r"zhihu\.com/tardis/\w+/art/(\d+)": r"zhuanlan.zhihu.com/p/\1"},
    "xiaohongshu": {r"xiaohongshu\.com/discovery/item/(\w+)": r"xiaohongshu.com/explore/\1"},
    "jd": {r"item\.jd\.com/product/(\d+\.html)": r"item.jd.com/\1"},
    "toutiao": {r"toutiao\.com/(?:i|a|group/)(\d+)": r"toutiao.com/article/\1"},
}

# Pages that redirect to the URL in one of their parameters.
REDIRECTS = {
    "google": {r"google(?:\.[a-z]{2,3}){1,2}/url": "q url"},
    "duckduckgo": {r"duckduckgo\.com/l": "uddg"},
    "youtube": {r"youtube\.com/redirect": "q"},
    "facebook": {r"lm?\.facebook\.com/l\.php": "u"},
    "instagram": {r"l\.instagram\.com": "u"},
    "reddit": {r"out\.reddit\.com(?:/.*)?": "url"},
    "steamcommunity": {r"steamcommunity\.com/linkfilter": "url u"},
    "zhihu": {r"link\.zhihu\.com": "target"},
    "juejin": {r"link\.juejin\.cn": "target"},
    "csdn": {r"link\.csdn\.net": "target"},
    "gitee": {r"gitee\.com/link": "target"},
    "jianshu": {r"links\.jianshu\.com/go": "to"},
    "douban": {r"douban\.com/link2": "url"},
    "weibo": {r"weibo\.cn/sinaurl": "u"},
    "oschina": {r"oschina\.net/action/GoToLink": "url"},
}

# Index pages of folders; and path segments and hosts where `amp` is a name, not a view of the page.
INDEX_PAGES = frozenset(
    f"{name}.{ending}"
    for name in ("index", "default")
    for ending in ("html", "htm", "xhtml", "shtml", "php", "asp", "aspx", "jsp", "cgi")
)
AMP_IS_A_NAME = _names("category dictionary package packages project projects r tag tags topic topics wiki word words")
CODE_HOSTS = _names("github.com gitlab.com")
