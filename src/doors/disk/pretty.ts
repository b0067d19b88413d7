/** Members with more than this are written entry by entry, so that no piece grows with them. */
const LONG = 64

/** The document, its collections and their records: always written entry by entry. */
const OPEN_LEVELS = 3

/**
 * A document as people read and edit it, in pieces of about one record. Joined, the pieces are exactly
 * `JSON.stringify(value, null, 2)` and a final newline.
 */
export function* prettyPieces(value: object): Generator<string> {
  yield* pieces(value, '', 0)
  yield '\n'
}

function* pieces(value: unknown, indent: string, level: number): Generator<string> {
  if (!isOpened(value, level)) yield whole(value, indent)
  else if (Array.isArray(value)) yield* items(value, indent, level)
  else yield* members(value, indent, level)
}

function* items(array: readonly unknown[], indent: string, level: number): Generator<string> {
  const inner = `${indent}  `
  let before = '[\n'
  for (const item of array) {
    yield before + inner
    yield* pieces(item === undefined ? null : item, inner, level + 1)
    before = ',\n'
  }
  yield array.length === 0 ? '[]' : `\n${indent}]`
}

function* members(object: object, indent: string, level: number): Generator<string> {
  const inner = `${indent}  `
  let before = '{\n'
  for (const [key, member] of Object.entries(object)) {
    if (member === undefined) continue
    yield `${before}${inner}${JSON.stringify(key)}: `
    yield* pieces(member, inner, level + 1)
    before = ',\n'
  }
  yield before === '{\n' ? '{}' : `\n${indent}}`
}

function isOpened(value: unknown, level: number): value is object {
  if (typeof value !== 'object' || value === null) return false
  return level < OPEN_LEVELS || isLong(value) || Object.values(value).some(isLong)
}

function isLong(value: unknown): boolean {
  return Array.isArray(value) && value.length > LONG
}

// A newline in this text is always between members: within strings JSON escapes it.
function whole(value: unknown, indent: string): string {
  return JSON.stringify(value, null, 2).replaceAll('\n', `\n${indent}`)
}
