import stringWidth from 'string-width'
import { expect, test } from 'vitest'
import { styled } from './line.ts'
import { linesOf, rendered, table } from './print.ts'

const ID = 'c1c0faf8c25000000000024c'
const SENTENCE = 'The batch waits until a control call releases it.'

function shown(head: readonly string[], rows: readonly (readonly unknown[])[], width?: number): string[] {
  return table(head, rows).flatMap((line) => rendered(line, { colours: false, width }).split('\n'))
}

test('without a terminal a table has its full width', () => {
  expect(shown(['ID', 'TEXT'], [[ID, SENTENCE]])).toEqual([`ID${' '.repeat(24)}TEXT`, `${ID}  ${SENTENCE}`])
})

test('in a terminal, sentences of a table are wrapped, and its other cells are whole', () => {
  const rows = [[ID, 'https://receiver.example/hooks', SENTENCE, 'open']]
  const gap = ' '.repeat(58)
  expect(shown(['ID', 'URL', 'TEXT', 'STATE'], rows, 80)).toEqual([
    `ID${' '.repeat(24)}URL${' '.repeat(29)}TEXT             STATE`,
    `${ID}  https://receiver.example/hooks  The batch waits  open`,
    `${gap}until a control`,
    `${gap}call releases`,
    `${gap}it.`,
  ])
})

test('no cell of a table is cut off, and no line is wider than the terminal', () => {
  const rows = [[ID, SENTENCE, SENTENCE.slice(0, 20).replaceAll(' ', '-'), 'nth 1 by idempotency_key']]
  for (let width = 40; width < 200; width++) {
    const lines = shown(['ID', 'A', 'B', 'WHEN'], rows, width)
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(width)
    expect(lines.join(' ').split(/\s+/)).toEqual(expect.arrayContaining(rows.flat().join(' ').split(' ')))
  }
})

test('columns without titles are wrapped, and no cell is cut off', () => {
  const rows = [
    ['url', 'https://receiver.example/hooks'],
    ['text', SENTENCE],
  ]
  expect(shown([], rows, 24)).toEqual([
    'url   https://receiver.example/hooks',
    'text  The batch waits',
    '      until a control',
    '      call releases it.',
  ])
})

const REQUEST = 'GET /v1/batch-predictions/c1c0faf8c25000000000024c/results'
const URL = 'https://receiver.example/hooks'

test.for<[what: string, cell: string, state: string | null, width: number, lines: readonly string[]]>([
  ['a URL', URL, 'open', 60, [`  WHERE  ${URL}`, '  STATE  open']],
  ['a long word', `Send it to the ${URL}`, 'open', 60, [`  WHERE  Send it to the ${URL}`, '  STATE  open']],
  ['a request, which the terminal breaks', REQUEST, 'open', 60, [`  WHERE  ${REQUEST}`, '  STATE  open']],
  [
    'a sentence and an empty cell',
    SENTENCE,
    null,
    35,
    ['  WHERE  The batch waits until a', '         control call releases it.'],
  ],
])('a table without room for %s has a line for each cell', ([, cell, state, width, lines]) => {
  expect(shown(['ID', 'WHERE', 'STATE'], [[ID, cell, state]], width)).toEqual([ID, ...lines])
})

test.for([
  [
    'a sentence',
    `  at  ${SENTENCE}`,
    '  at  The batch waits until a\n      control call releases\n      it.',
  ],
  ['JSON', `{"text": "${SENTENCE}"}`, undefined],
  ['a command', `  curl ${SENTENCE}`, undefined],
] as const)('in a narrow terminal, %s on a line: %s', ([, line, expected]) => {
  expect(rendered(line, { colours: false, width: 30 })).toBe(expected ?? line)
})

test('a cell has a style, and control characters of its text are escaped', () => {
  const lines = table(['A', 'B'], [[styled('red', 'x\u001b[2J'), 1]])
  expect(lines.map((line) => rendered(line, { colours: true }))).toEqual([
    '\u001b[1mA\u001b[22m           \u001b[1mB\u001b[22m\n\u001b[31mx\\u001b[2J\u001b[39m  1',
  ])
})

test.for([
  ['completed', 32],
  [204, 32],
  [301, 36],
  ['canceled', 33],
  [429, 33],
  ['failed', 31],
  [503, 31],
  [0, 31],
] as const)('the status %s in a table has the colour %i', ([status, colour]) => {
  const [line = ''] = linesOf({ data: [{ status }] })
  expect(rendered(line, { colours: true })).toContain(
    `\u001b[${colour}m${status === 0 ? 'cut' : status}\u001b`,
  )
})

test('a record with a field "style" is data, not a style', () => {
  const [line = ''] = linesOf({ data: [{ id: 'a', output: { style: 'red', text: 'x' } }] }, ['id', 'output'])
  expect(rendered(line, { colours: true })).toContain('{"style":"red","text":"x"}')
})

test('columns are aligned by the width that a terminal shows, not by the number of characters', () => {
  const names = ['plain', '屋顶平面图', 'छत की योजना', 'Zürich', '👩‍👩‍👧 family', 'e\u0301te\u0301']
  const screen = { colours: false, width: 60 }
  const lines = table(
    ['NAME', 'ID'],
    names.map((name) => [name, 'id']),
  ).flatMap((line) => rendered(line, screen).split('\n'))
  const starts = lines.slice(1).map((line) => stringWidth(line.slice(0, line.lastIndexOf('id'))))
  expect(new Set(starts).size).toBe(1)
})

test('a text in Japanese, which has no blanks, continues below its own beginning; a URL is not cut', () => {
  const screen = { colours: false, width: 40 }
  const mixed = '屋顶 平面 图纸 is the name of a page that has many more words than fit'
  for (const line of rendered(mixed, screen).split('\n')) expect(stringWidth(line)).toBeLessThanOrEqual(40)
  const text = '台風の日:すべての作成が失敗する。頻繁に再試行するクライアントを確かめるため'
  const lines = rendered([styled('dim', '  DESCRIPTION  '), text], screen).split('\n')
  expect(lines.length).toBeGreaterThan(2)
  for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(40)
  for (const line of lines.slice(1)) expect(line).toMatch(/^ {15}\S/)
  const url = `http://127.0.0.1:4010/${'a'.repeat(40)}`
  expect(rendered(`The page is at ${url}`, screen)).toContain(url)
})
