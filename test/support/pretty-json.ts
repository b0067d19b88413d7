import type { Json } from '../../src/core/json.ts'

const WIDTH = 110

/** JSON formatted like the formatter of this project does, so that golden files need no formatting. */
export function prettyJson(value: Json): string {
  return `${block(value, 0, 0)}\n`
}

// `before`: the number of characters already on the line; a comma may follow.
function block(value: Json, indent: number, before: number): string {
  const line = inline(value)
  if (line !== undefined && before + line.length + 1 <= WIDTH) return line
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const inner = indent + 2
  const rows = Array.isArray(value)
    ? value.map((item) => block(item, inner, inner))
    : Object.entries(value).map(([name, member]) => {
        const key = `${JSON.stringify(name)}: `
        return key + block(member, inner, inner + key.length)
      })
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return `${open}\n${rows.map((row) => ' '.repeat(inner) + row).join(',\n')}\n${' '.repeat(indent)}${close}`
}

// An object always has one line for each field, even if it is short.
function inline(value: Json): string | undefined {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (!Array.isArray(value)) return Object.keys(value).length === 0 ? '{}' : undefined
  const items = value.map(inline)
  return items.includes(undefined) ? undefined : `[${items.join(', ')}]`
}
