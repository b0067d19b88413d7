import { createHash } from 'node:crypto'
import type { ConsentQuestion } from '../../core/consent.ts'

const STYLE = `
:root{color-scheme:light dark;--bg:light-dark(#f7f8fa,#0f1115);--surface:light-dark(#fff,#16191f);
--border:light-dark(#e2e4e9,#2a2f39);--edge:light-dark(#cdd1d9,#3b424f);--text:light-dark(#16181d,#e9ebef);
--soft:light-dark(#474c58,#b5bac6);--weak:light-dark(#626876,#949baa);--accent:light-dark(#4a47d1,#9a9cff);
--over:light-dark(#3c39b8,#b3b4ff);--on:light-dark(#fff,#12132b);--info:light-dark(#1b5c9e,#85bdf6);--tint:light-dark(#e4effa,#13263c)}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:16px;background:var(--bg);color:var(--text);
font:13px/20px -apple-system,BlinkMacSystemFont,"Segoe UI",Roboto,"Noto Sans","Liberation Sans",system-ui,sans-serif}
main{width:100%;max-width:420px;padding:24px;background:var(--surface);border:1px solid var(--border);border-radius:12px;
box-shadow:0 4px 12px #10131a1f;overflow-wrap:anywhere}
header{display:flex;justify-content:space-between;gap:8px;color:var(--soft)}
.tag{padding:0 6px;border-radius:4px;background:var(--tint);color:var(--info);font-weight:500;font-size:12px}
h1{margin:16px 0 4px;font-size:20px;line-height:28px}
p{margin:0 0 16px;color:var(--soft)}
ul{margin:0 0 16px;padding-left:20px}
li{padding:2px 0}
dl{display:grid;grid-template-columns:auto 1fr;gap:4px 16px;margin:0 0 16px}
dt{color:var(--weak)}
dd{margin:0;font:12px/20px ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace}
.buttons{display:grid;grid-template-columns:1fr 1fr;gap:8px;margin-bottom:16px}
button{min-height:36px;padding:0 12px;border:1px solid var(--edge);border-radius:6px;background:transparent;color:inherit;
font:inherit;font-weight:500;cursor:pointer}
button:hover{border-color:var(--weak)}
button.primary{border-color:transparent;background:var(--accent);color:var(--on)}
button.primary:hover{background:var(--over)}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
details{margin-bottom:16px}
summary{min-height:24px;cursor:pointer;color:var(--soft)}
details button{display:block;width:100%;margin-top:8px;text-align:left}
.note{margin:0;font-size:12px;line-height:16px;color:var(--weak)}
`

/** The hash of the only style that the Content-Security-Policy of a page allows. */
export const STYLE_HASH = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Escapes a text for use in the content of a page or in a quoted attribute. */
export function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
}

/** A page with the question for consent: a form that is sent to the address of the page. */
export function questionPage(
  { title, asker, grants, facts, returnsTo }: ConsentQuestion,
  sandbox: string,
  errors: Readonly<Record<string, string>>,
): string {
  const rows = [...(returnsTo === null ? [] : [['Returns to', returnsTo]]), ...facts, ['Sandbox', sandbox]]
  const list = rows.map(([name = '', value = '']) => `<dt>${escaped(name)}</dt><dd>${escaped(value)}</dd>`)
  const others = Object.entries(errors).map(
    ([outcome, label]) => `<button name="outcome" value="${escaped(outcome)}">${escaped(label)}</button>`,
  )
  const end =
    returnsTo === null ? 'This page then shows the result.' : 'The browser then returns to the address above.'
  return page(
    title,
    `<p>${escaped(asker)}</p>
<ul>${grants.map((grant) => `<li>${escaped(grant)}</li>`).join('')}</ul>
<dl>${list.join('')}</dl>
<form method="post">
<div class="buttons"><button class="primary" name="outcome" value="allow">Allow</button>
<button name="outcome" value="deny">Deny</button></div>
<details><summary>Return an error instead</summary>${others.join('')}</details>
</form>
<p class="note">No data leaves this machine. ${end}</p>`,
  )
}

/** A page that only shows a message. */
export function messagePage(title: string, ...sentences: readonly string[]): string {
  return page(title, sentences.map((sentence) => `<p>${escaped(sentence)}</p>`).join('\n'))
}

function page(title: string, content: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title><style>${STYLE}</style></head>
<body><main><header><span>Agent Workspace Emulator</span><span class="tag">test page</span></header>
<h1>${escaped(title)}</h1>
${content}
</main></body></html>
`
}
