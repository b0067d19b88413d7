import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Refusal } from '../../core/errors.ts'
import { readFaultHeader } from './fault-header.ts'

function problem(value: string): string {
  try {
    readFaultHeader(value)
    return 'none'
  } catch (error) {
    if (error instanceof Refusal) return error.message
    throw error
  }
}

test('a list of names with parameters is read, each member known by its canonical form', () => {
  const [first, second, ...more] = readFaultHeader(
    'retry-after-http-date; in=2; nth=1 ,server-error;status=503;detail="Come back";probability=0.5;label',
  )
  expect(more).toEqual([])
  expect(first).toEqual({
    text: 'retry-after-http-date;in=2;nth=1',
    preset: 'retry-after-http-date',
    parameters: new Map(Object.entries({ in: 2, nth: 1 })),
  })
  expect([...(second?.parameters ?? [])]).toEqual([
    ['status', 503],
    ['detail', 'Come back'],
    ['probability', 0.5],
    ['label', true],
  ])
})

test('words are words with or without quotes, and an empty list names nothing', () => {
  const [named] = readFaultHeader('server-error;by=operation+api_key;code="internal_error"')
  expect([...(named?.parameters ?? [])]).toEqual([
    ['by', 'operation+api_key'],
    ['code', 'internal_error'],
  ])
  expect(readFaultHeader('')).toEqual([])
})

test('any names are keys as good as others', () => {
  const [fault] = readFaultHeader('constructor;constructor=1')
  expect([fault?.preset, fault?.parameters.get('constructor')]).toEqual(['constructor', 1])
})

test.for([
  ['server-error;', 'A key must begin with an asterisk or letter (a-z) at offset 13'],
  ['server-error,', 'A list may not end with a trailing comma at offset 13'],
  ['server-error slow-drip', 'Expected , at offset 13'],
  ['{"preset": "server-error"}', 'Unexpected input at offset 0'],
  ['server-error;in=ab"', 'Expected , at offset 18'],
  ['"server-error"', '""server-error"" is no name of a preset'],
  ['503', '"503" is no name of a preset'],
  ['(server-error slow-drip)', '"(server-error slow-drip)" is no name of a preset'],
  ['server-error;in=@1659578233', 'The parameter in has the value @1659578233'],
  ['server-error;detail=:aGk=:', 'The parameter detail has the value :aGk=:'],
  [Array(21).fill('server-error').join(), 'It names 21 faults; at most 20 may be named'],
] as const)('%s is refused for what is wrong with it', ([value, message]) => {
  expect(problem(value)).toContain(message)
})

test('whatever stands in the header is read or refused, and its canonical form reads as the same', () => {
  const part = fc.constantFrom(
    'slow-drip',
    ';',
    ',',
    ' ',
    '=',
    '"',
    '\\',
    'in',
    '1.5',
    '?1',
    ':',
    '(',
    '@',
    '%"',
    'é',
    '*',
  )
  fc.assert(
    fc.property(
      fc.array(part).map((parts) => parts.join('')),
      (value) => {
        if (problem(value) !== 'none') return
        const read = readFaultHeader(value)
        expect(readFaultHeader(read.map(({ text }) => text).join(', '))).toEqual(read)
      },
    ),
  )
})
