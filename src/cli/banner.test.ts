import { expect, test } from 'vitest'
import type { PlainKey } from '../core/request/plain-keys.ts'
import { rendered } from '../terminal/print.ts'
import { banner, type Facts } from './start.ts'

const FACTS: Facts = {
  version: '1.2.3',
  contract_version: '0.1.1',
  base_url: 'http://127.0.0.1:4010/v1',
  control_url: 'http://127.0.0.1:4010/__emulator',
  state_file: '/data/default.json',
  now: '2026-03-01T12:00:00.000Z',
  rate: 1,
  seed: 7,
  scenario: null,
  assumptions: 114,
}

function key(token: string): PlainKey {
  return { token, kind: 'user', description: 'somebody' }
}

function shown(facts: Facts, keys: readonly PlainKey[]): string {
  return banner(facts, keys)
    .map((line) => rendered(line, { colours: false }))
    .join('\n')
}

test('the banner shows addresses, state, clock, seed and keys, and a command to copy', () => {
  expect(
    shown(FACTS, [key('live_a'), key('live_longer')]),
  ).toBe(`Agent Workspace Service emulator 1.2.3, contract 0.1.1

  API        http://127.0.0.1:4010/v1
  Control    http://127.0.0.1:4010/__emulator
  Dashboard  http://127.0.0.1:4010/__emulator/ui/
  State      /data/default.json
  Clock      2026-03-01T12:00:00.000Z, rate 1
  Seed       7
  Keys       live_a       somebody
             live_longer  somebody
  Assumed    114 questions that the specification leaves open: http://127.0.0.1:4010/__emulator/assumptions

  curl -w "\\n" -H "Authorization: Bearer live_a" http://127.0.0.1:4010/v1/data-views
`)
})

const KEYS = Array.from({ length: 9 }, (_, n) => key(`live_${n}`))

test.for<[what: string, facts: Partial<Facts>, keys: readonly PlainKey[], text: string]>([
  ['a state in memory', { state_file: null }, KEYS, '  State      in memory\n'],
  ['a scenario', { scenario: 'partial-failure' }, KEYS, '  Seed       7\n  Scenario   partial-failure\n'],
  ['six keys and the number of the others', {}, KEYS, 'live_5  somebody\n             and 3 more\n'],
  ['a call without a key', {}, [], '  curl -w "\\n" http://127.0.0.1:4010/__emulator/health\n'],
  [
    'how to get a key',
    {},
    [],
    `  Keys       the fixtures of this start have no key of the sandbox. Start with the --fixtures
             that it was created from, or write a key: PUT http://127.0.0.1:4010/__emulator/state/api_keys/NAME
             with {"kind": "user", "token", "user_id", "organization_id", "teamspace_id"}
  Assumed `,
  ],
])('the banner shows %s', ([, facts, keys, text]) => {
  expect(shown({ ...FACTS, ...facts }, keys)).toContain(text)
})
