import { findNodeAtLocation, getLocation, type JSONPath, type Node, parseTree } from 'jsonc-parser'

/** The part of JSON Schema that forms and suggestions use. */
export interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly not?: unknown
  readonly default?: unknown
  readonly description?: string
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly allOf?: readonly JsonSchema[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | JsonSchema
  readonly items?: boolean | JsonSchema
}

/** A text that can be inserted at a place in a JSON text. */
export interface Suggestion {
  readonly label: string
  readonly hint: string
  /** The text that replaces the part between `from` and `to`. */
  readonly insert: string
  readonly from: number
  readonly to: number
  /** Whether it is the name of a field, so that its values can be suggested next. */
  readonly isKey: boolean
}

/** The fields and values that the schema allows at the caret, and that begin with the typed text. */
export function suggestionsAt(text: string, caret: number, schema: JsonSchema): readonly Suggestion[] {
  const { path, isAtPropertyKey, previousNode } = getLocation(text, caret)
  const typed = typedAt(text, caret, previousNode)
  const fits = (label: string) => label.toLowerCase().startsWith(typed.word.toLowerCase())
  if (isAtPropertyKey) {
    const own = path.slice(0, -1)
    const taken = keysAt(text, own, typed.from)
    const found = schemasAt(schema, own).flatMap(({ properties = {}, required = [] }) =>
      Object.entries(properties).map(([name, shape]) => ({
        name,
        shape,
        isRequired: required.includes(name),
      })),
    )
    return unique(found, ({ name }) => name)
      .filter(({ name, shape }) => shape.not === undefined && !taken.has(name) && fits(name))
      .map(({ name, shape, isRequired }) => ({
        label: name,
        hint: [typeOf(shape), ...(isRequired ? ['required'] : [])].join(', '),
        insert: keyText(text, typed, name, shape),
        from: typed.from,
        to: typed.to,
        isKey: true,
      }))
  }
  if (previousNode === undefined && !/[:[,\s]$/.test(text.slice(0, typed.from))) return []
  return unique(schemasAt(schema, path).flatMap(valuesOf), (value) => value)
    .filter((value) => fits(value.replace(/^"/, '')))
    .map((value) => ({ label: value, hint: '', insert: value, from: typed.from, to: typed.to, isKey: false }))
}

interface Typed {
  readonly from: number
  readonly to: number
  /** The typed text without its opening quote. */
  readonly word: string
}

// Inside a complete value, all of it is replaced. Of a string without a closing quote, only the part before the caret is.
function typedAt(text: string, caret: number, node: Node | undefined): Typed {
  if (node !== undefined && node.offset < caret && caret <= node.offset + node.length) {
    const { offset, length } = node
    const isText = text[offset] === '"'
    const isWhole = !isText || (length > 1 && text[offset + length - 1] === '"')
    return {
      from: offset,
      to: isWhole ? offset + length : caret,
      word: text.slice(offset + (isText ? 1 : 0), caret),
    }
  }
  const word = /"?[\w.$-]*$/.exec(text.slice(0, caret))?.[0] ?? ''
  return { from: caret - word.length, to: caret, word: word.replace(/^"/, '') }
}

function keysAt(text: string, path: JSONPath, except: number): ReadonlySet<string> {
  const root = parseTree(text)
  const node = root && findNodeAtLocation(root, path)
  const keys = (node?.children ?? []).flatMap(({ children: [key] = [] }) => key ?? [])
  return new Set(keys.filter(({ offset }) => offset !== except).map(({ value }) => String(value)))
}

/** The text of a new field: its name, the beginning of its value, and a comma if another field follows. */
function keyText(text: string, { to }: Typed, name: string, shape: JsonSchema): string {
  const key = JSON.stringify(name)
  const after = text.slice(to).trimStart()
  if (after.startsWith(':')) return key
  return `${key}: ${valuesOf(shape).length > 1 ? '' : startOf(shape)}${after.startsWith('"') ? ',' : ''}`
}

/** The first value of a new field, as JSON. */
function startOf(shape: JsonSchema): string {
  const [first] = [
    ...valuesOf(shape),
    ...(shape.default === undefined ? [] : [JSON.stringify(shape.default)]),
  ]
  const empty: Readonly<Record<string, string>> = {
    string: '""',
    array: '[]',
    object: '{}',
    number: '0',
    integer: '0',
  }
  return (
    first ?? empty[[schemaVariants(shape).find(({ type }) => type !== undefined)?.type].flat()[0] ?? ''] ?? ''
  )
}

/** The values that a schema lists, as JSON. */
function valuesOf(shape: JsonSchema): readonly string[] {
  const found = schemaVariants(shape).flatMap(({ enum: all, const: only, type }) => {
    if (all !== undefined) return all
    if (only !== undefined) return [only]
    const types = [type].flat()
    return [...(types.includes('boolean') ? [true, false] : []), ...(types.includes('null') ? [null] : [])]
  })
  return unique(
    found.map((value) => JSON.stringify(value)),
    (value) => value,
  )
}

function typeOf(shape: JsonSchema): string {
  const types = schemaVariants(shape).flatMap(({ type, enum: all, const: only }) =>
    all !== undefined || only !== undefined ? ['choice'] : (type ?? []),
  )
  return [...new Set(types)].join(' or ')
}

/** The schema itself, and all schemas in its `anyOf`, `oneOf` and `allOf`, at any depth. */
export function schemaVariants(schema: JsonSchema): readonly JsonSchema[] {
  const parts = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]
  return [schema, ...parts.flatMap(schemaVariants)]
}

function schemasAt(schema: JsonSchema, path: JSONPath): readonly JsonSchema[] {
  return path.reduce<readonly JsonSchema[]>(
    (found, part) =>
      found.flatMap(({ properties, additionalProperties, items }) => {
        const next = typeof part === 'number' ? items : (properties?.[part] ?? additionalProperties)
        return typeof next === 'object' ? schemaVariants(next) : []
      }),
    schemaVariants(schema),
  )
}

function unique<T>(all: readonly T[], by: (each: T) => string): readonly T[] {
  return [...new Map(all.map((each) => [by(each), each])).values()]
}
