import { expect, test } from 'vitest'
import { type JsonSchema, suggestionsAt } from './json-completion.ts'

const schema: JsonSchema = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string' },
    scope: { type: 'string', enum: ['teamspace', 'organization'] },
    isOn: { type: 'boolean' },
    note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    computed: { not: {} },
    when: {
      oneOf: [{ type: 'object', properties: { nth: { type: 'integer' }, first: { type: 'integer' } } }],
    },
    tags: { type: 'array', items: { enum: ['red', 'green'] } },
    labels: { type: 'object', additionalProperties: { const: 'x' } },
  },
}

/** The labels of the suggestions at the bar `|` in a text. */
function labels(marked: string): string[] {
  return found(marked).map(({ label }) => label)
}

function found(marked: string) {
  return suggestionsAt(marked.replace('|', ''), marked.indexOf('|'), schema)
}

/** The text after the first suggestion was accepted. */
function taken(marked: string): string {
  const text = marked.replace('|', '')
  const [first] = found(marked)
  return first === undefined ? text : text.slice(0, first.from) + first.insert + text.slice(first.to)
}

test.for([
  ['{|}', ['name', 'scope', 'isOn', 'note', 'when', 'tags', 'labels']],
  ['{"n|"}', ['name', 'note']],
  ['{n|}', ['name', 'note']],
  ['{"name": "a", "n|": 1}', ['note']],
  ['{"na|me": "a", "note": null}', ['name']],
  ['{"name": "a", |}', ['scope', 'isOn', 'note', 'when', 'tags', 'labels']],
  ['{"when": {"|"}}', ['nth', 'first']],
  ['{"scope": |}', ['"teamspace"', '"organization"']],
  ['{"scope": "o|"}', ['"organization"']],
  ['{"scope": "team|space"}', ['"teamspace"']],
  ['{"isOn": t|}', ['true']],
  ['{"isOn": |', ['true', 'false']],
  ['{"note": n|}', ['null']],
  ['{"tags": ["red", "g|"]}', ['"green"']],
  ['{"labels": {"any": |}}', ['"x"']],
  ['{"unknown": {"|"}}', []],
  ['{"name": "a"|}', []],
  ['|', []],
] as const)('at the bar of %s there are %j', ([marked, expected]) => {
  expect(labels(marked)).toEqual(expected)
})

test.for([
  ['{|}', '{"name": ""}'],
  ['{"na|"}', '{"name": ""}'],
  ['{"na|me": "a"}', '{"name": "a"}'],
  ['{"name": "a", "sc|"}', '{"name": "a", "scope": }'],
  ['{| "note": null}', '{"name": "", "note": null}'],
  ['{"scope": "o|"}', '{"scope": "organization"}'],
  ['{"scope": "o|\n}', '{"scope": "organization"\n}'],
  ['{"scope": |}', '{"scope": "teamspace"}'],
  ['{"tags": [|]}', '{"tags": ["red"]}'],
] as const)('what is suggested first in %s makes it %s', ([marked, text]) => {
  expect(taken(marked)).toBe(text)
})

test('a field says what it holds, and whether it is required', () => {
  expect(found('{|}').slice(0, 4)).toMatchObject([
    { hint: 'string, required' },
    { hint: 'choice' },
    { hint: 'boolean' },
    { hint: 'string or null' },
  ])
})
