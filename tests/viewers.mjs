// Renders Markdown as current chat front ends and editors do: a JSON list of texts on stdin, HTML by viewer on stdout.
// HTML is allowed in all of them, so that what is not escaped shows.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(`${process.argv[2]}/node_modules/`);
const load = async (name) => import(pathToFileURL(require.resolve(name)).href);
const the = async (name) => (await load(name)).default;

const { Marked } = await load("marked");
const { unified } = await load("unified");
const commonmark = await load("commonmark");
const MarkdownIt = await the("markdown-it");
const MarkdownIt14 = await the("markdown-it-14");
const formulas = await the("@vscode/markdown-it-katex");
const [parse, gfm, math, toHtml, raw, katex, mathjax, stringify] = await Promise.all(
  ["remark-parse", "remark-gfm", "remark-math", "remark-rehype", "rehype-raw", "rehype-katex", "rehype-mathjax", "rehype-stringify"].map(the),
);
const quiet = { throwOnError: false, strict: "ignore" };
const remark = (plugins, rest) => {
  const processor = plugins.reduce((made, plugin) => made.use(plugin), unified().use(parse));
  const html = processor.use(toHtml, { allowDangerousHtml: true }).use(raw);
  return rest.reduce((made, plugin) => made.use(...plugin), html).use(stringify);
};
const marked = new Marked();
const markedFormulas = await the("marked-katex-extension");
const markedKatex = new Marked().use(markedFormulas({ ...quiet, nonStandard: true }));
const markedStrictKatex = new Marked().use(markedFormulas({ ...quiet, nonStandard: false }));
const linkify = new MarkdownIt({ html: true, linkify: true });
const linkifyKatex = new MarkdownIt({ html: true, linkify: true, breaks: true }).use(formulas.default ?? formulas, quiet);
const fuzzy = new MarkdownIt14({ html: true, linkify: true });
const reader = new commonmark.Parser();
const writer = new commonmark.HtmlRenderer();
const plain = remark([gfm], []);
const withKatex = remark([gfm, math], [[katex, quiet]]);
const withMathjax = remark([gfm, math], [[mathjax]]);
const viewers = {
  marked: (text) => marked.parse(text),
  "marked, KaTeX": (text) => markedKatex.parse(text),
  "marked, KaTeX beside spaces only": (text) => markedStrictKatex.parse(text),
  "markdown-it": (text) => linkify.render(text),
  "markdown-it, KaTeX": (text) => linkifyKatex.render(text),
  "markdown-it 14": (text) => fuzzy.render(text),
  "remark-gfm": (text) => String(plain.processSync(text)),
  "remark-math, KaTeX": (text) => String(withKatex.processSync(text)),
  "remark-math, MathJax": async (text) => String(await withMathjax.process(text)),
  "commonmark.js": (text) => writer.render(reader.parse(text)),
};

let input = "";
for await (const piece of process.stdin) input += piece;
for (const text of JSON.parse(input)) {
  const shown = {};
  for (const [name, render] of Object.entries(viewers)) shown[name] = await render(text);
  console.log(JSON.stringify(shown));
}
