import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyText } from '../../test/support/any-text.ts'
import { forAll } from '../../test/support/for-all.ts'
import { annotation, codeCell, codeSpan, comment, literal, plainMarkdown } from './quoted.ts'
import { shellWord } from './shell-word.ts'

/** Every control and line character, and those that change the direction of text. */
const CONTROLS = [
  ...Array.from({ length: 65 }, (_, n) => String.fromCharCode(n < 32 ? n : n - 32 + 0x7f)),
  ...'\u2028\u2029\u061c\u200e\u200f\u202a\u202e\u2066\u2069',
]
const PARTS = [...CONTROLS, ...`'"\`$\\|%! `, '${', '*/', '//', '::', '<b>', '\n::error::']
const hostile = fc
  .array(fc.oneof(fc.constantFrom(...PARTS), anyText()), { maxLength: 20 })
  .map((all) => all.join(''))
// biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be in any of the results.
const RAW = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/

const ALL = CONTROLS.join('x')

const LANGUAGES: readonly [name: string, write: (text: string) => string][] = [
  ['a literal', literal],
  ['a comment', comment],
  ['a code span', codeSpan],
  ['a cell', codeCell],
  ['Markdown', plainMarkdown],
  ['an annotation', (text) => annotation('notice', text, [text, text])],
  ['a shell word', shellWord],
]

test.for(LANGUAGES)('%s has no control or line character, whatever its text', ([, write]) => {
  expect(write(ALL)).not.toMatch(RAW)
  forAll(hostile, (text) => {
    expect(write(text)).not.toMatch(RAW)
  })
})

test('a literal is the value, in JavaScript', () =>
  forAll(hostile, (text) => {
    const value = { [`k${text}`]: text }
    expect(new Function(`return ${literal(value)}`)()).toEqual(value)
  }))

test('what follows a comment still runs, and the comment does not', () =>
  forAll(hostile, (text) => {
    const run = new Function(`${comment(`${text}\nthrow 1\u2028throw 2`)}\nreturn 'after'`)
    expect(run()).toBe('after')
  }))

test('a shell word is the text itself, in a shell', () => {
  const texts = [ALL.replaceAll('\0', ''), "it's", '$(id)', '`id`', '\u2028\nid', ...fc.sample(hostile, 60)]
  const words = texts.map((text) => text.toWellFormed().replaceAll('\0', ''))
  const out = execFileSync('bash', ['-c', `printf '%s\\0' ${words.map(shellWord).join(' ')}`])
  expect(out.toString().split('\0').slice(0, -1)).toEqual(words)
})

test('a code span ends only at its end, and a cell of a table, too', () =>
  forAll(hostile, (text) => {
    expect(codeSpan(text).slice(1, -1)).not.toContain('`')
    expect(codeCell(text)).not.toMatch(/(?<!\\)\|/)
    expect(plainMarkdown(text)).not.toMatch(/(?<!\\)[|<>`*_[\]&~]/)
  }))

test('an annotation is one command of a workflow with one title', () =>
  forAll(hostile, (text) => {
    expect(annotation('error', text, [text])).toMatch(/^::error title=[^:,]*::.*$/)
  }))
