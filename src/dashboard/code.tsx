/** Matches the parts of JSON or code that get a colour. */
const PIECES =
  /("(?:[^"\\]|\\.)*")(\s*:)?|'(?:[^'\\]|\\.)*'|\b(?:true|false|null|const|await|import|from)\b|(?<![\w./:-])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.:])/gi

/** A text in parts; parts with a colour have their kind as a class. No part of the text becomes HTML. */
export function coloured(text: string) {
  const parts = []
  let end = 0
  for (const match of text.matchAll(PIECES)) {
    const [whole, quoted, colon] = match
    if (match.index > end) parts.push(text.slice(end, match.index))
    const name = colon === undefined ? kindOf(whole, quoted) : 'key'
    parts.push(
      <span key={match.index} class={`c-${name}`}>
        {quoted ?? whole}
      </span>,
    )
    if (colon !== undefined) parts.push(colon)
    end = match.index + whole.length
  }
  parts.push(text.slice(end))
  return parts
}

function kindOf(whole: string, quoted: string | undefined): string {
  if (quoted !== undefined || whole.startsWith("'")) return 'string'
  return /^[-\d]/.test(whole) ? 'number' : 'word'
}

/** Longer texts are shown without colours, so that the page stays quick. */
const MAX_COLOURED = 100_000

export function Code({ text, label = 'Code' }: { text: string; label?: string }) {
  return (
    <pre class="code" role="group" tabIndex={0} aria-label={label}>
      {text.length > MAX_COLOURED ? text : coloured(text)}
    </pre>
  )
}
