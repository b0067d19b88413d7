import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { serviceFacts } from '../../emulator/service.ts'
import { Settings } from '../assumptions.ts'
import { operation } from '../operation.ts'
import { type Resource, service } from '../service.ts'
import { collection } from '../state/collection.ts'
import { checkDraft } from './arm.ts'
import type { Preset } from './preset.ts'
import type { AnyPrimitive } from './primitive.ts'
import { draftSchema, storedSchemas } from './rule-schema.ts'

const list = operation({
  name: 'things.list',
  method: 'GET',
  path: '/things',
  summary: 'List things',
  section: 'none',
  errorFormat: 'standard',
  contract: true,
  success: 200,
  handle: () => ({}),
})

const things = collection({
  name: 'things',
  label: 'thing',
  schema: () => z.strictObject({ id: z.string() }),
})

const presets: Preset[] = [
  {
    name: 'early-cut',
    family: 'connection',
    description: 'The connection ends before the body is read.',
    match: { operation: 'things.list' },
    do: [{ cut: { at: 'before-read', how: 'rst' } }],
  },
  {
    name: 'in-steps',
    family: 'retry',
    description: 'One failure, then none.',
    match: 'everything',
    when: { sequence: ['fail', 'pass'] },
    actions: { fail: [{ respond: { status: 500 } }] },
  },
  {
    name: 'late-webhook',
    family: 'webhook',
    description: 'A webhook comes late.',
    match: { webhook: '*' },
    do: [{ deliver: { delay: '1m' } }],
  },
]

const resource: Resource = {
  name: 'things',
  operations: [list],
  collections: [things],
  webhookTypes: [{ type: 'thing.made', description: 'A thing was made.' }],
  recordFaults: [
    {
      name: 'thing',
      description: 'Moves a thing.',
      schema: () => z.enum(['break', 'mend']),
      apply: () => {},
    },
  ],
}

const all = service([resource], { ...serviceFacts, presets })
const settings = new Settings()

function problems(raw: unknown): [string, string][] {
  const checked = checkDraft(raw, all, settings)
  return 'issues' in checked ? checked.issues.map(({ pointer, detail }) => [pointer, detail]) : []
}

const fail = { do: [{ respond: { status: 500 } }] }
const doing = (action: object) => ({ match: 'everything', do: [action] })
const matching = (match: unknown) => ({ match, ...fail })
const when = (value: unknown) => ({ match: 'everything', when: value, ...fail })

const accepting = (timing: object) => ({
  match: 'everything',
  do: [{ cut: { at: 'accept', how: 'rst' } }],
  ...timing,
})

test.for<[what: string, raw: object]>([
  ['a composition', { ...fail, match: { operation: 'things.list', body: { '/a': { exists: true } } } }],
  [
    'everything',
    { ...fail, match: 'everything', id: 'x/y', priority: -1, then: 'continue', times: 1, ttl: '10m' },
  ],
  ['a preset as it is', { preset: 'early-cut' }],
  ['a preset with more to match', { preset: 'early-cut', match: { headers: { 'X-Try': '2' } } }],
  ['a preset for everything', { preset: 'early-cut', match: 'everything', when: { nth: 2 } }],
  ['a preset with a sequence', { preset: 'in-steps' }],
  ['a webhook', { match: { webhook: 'thing.*', url: '*/hook' }, do: [{ deliver: { copies: 2 } }] }],
  ['a response that waits for webhooks', doing({ deliver: { when: 'before-response' } })],
  ['a path by regular expression', matching({ path: { regex: '^/v1/(things|thongs)$' } })],
  [
    'a connection before its first byte',
    { match: 'everything', times: 1, do: [{ cut: { at: 'accept', how: 'rst' } }] },
  ],
  ['a number of connections in a row', accepting({ when: { first: 1_000 } })],
  ['the connections of a while', accepting({ when: { by: 'connection', until: { wall_ms: 600_000 } } })],
  ['a place in the body', doing({ cut: { at: { line: 2, plus_bytes: -1 }, how: 'fin' } })],
  ['a place in the request', doing({ cut: { at: { request_bytes: 10 }, how: 'fin' } })],
  ['a move of a resource', doing({ state: { thing: 'break', id: { body: '/id' } } })],
  ['rows', doing({ state: { insert_rows: { collection: 'things', count: 2 } } })],
  ['headers that no server writes', doing({ head: { raw: [['X y', '\u2028 \u0007']] } })],
  ['odd quota', doing({ quota: { reset_in_s: -1.5, retry_after: { text: 'soon' }, fields: 'both' } })],
  ['a clock that goes back', doing({ clock: { offset: '-5m' } })],
  ['several to count by', when({ by: ['operation', 'idempotency_key'], every: 2, until: { calls: 9 } })],
  [
    'names that every object has',
    { match: 'everything', when: { sequence: ['constructor'] }, actions: { constructor: fail.do } },
  ],
])('a rule may be %s', ([, raw]) => {
  expect(problems(raw)).toEqual([])
})

test.for<[raw: unknown, pointer: string, detail: RegExp]>([
  [42, '', /object, not number/],
  [accepting({}), '/times', /control interface/],
  [accepting({ ttl: '1h' }), '/times', /control interface/],
  [accepting({ times: 1_001 }), '/times', /at most 1000/],
  [accepting({ when: { first: 1_001 } }), '/times', /control interface/],
  [accepting({ when: { until: { wall_ms: 600_001 } } }), '/times', /at most 600000/],
  [accepting({ when: { by: 'connection', nth: 1 } }), '/times', /without when\.by/],
  [accepting({ when: { by: 'connection', first: 1 } }), '/times', /without when\.by/],
  [accepting({ when: { by: 'connection', until: { calls: 1 } } }), '/times', /without when\.by/],
  [{ ...fail, match: 'everything', wen: {} }, '/wen', /no.* known field\. Did you mean "when"\?/],
  [fail, '/match', /is required; use "everything"/],
  [matching({}), '/match', /at least one of operation, method/],
  [matching('everythin'), '/match', /"everything"/],
  [matching(null), '/match', /"everything"/],
  [{ preset: 'early-cut', match: {} }, '/match', /at least one of/],
  [matching({ operation: 'thing.list' }), '/match/operation', /Did you mean "things.list"\?/],
  [matching({ heders: {} }), '/match/heders', /Did you mean "headers"\?/],
  [matching({ headers: { Authorization: '*' } }), '/match/headers/Authorization', /caller/],
  [matching({ body: { a: { exists: true } } }), '/match/body/a', /JSON Pointer/],
  [matching({ body: { '/a': { equal: 1 } } }), '/match/body/~1a/equal', /Did you mean "equals"\?/],
  [matching({ path: { regex: 'a(' } }), '/match/path/regex', /RE2: missing closing \)/],
  [matching({ path: { regex: '(?=a)' } }), '/match/path/regex', /RE2/],
  [matching({ path: { regexp: 'a' } }), '/match/path/regexp', /Did you mean "regex"\?/],
  [matching({ path: { regex: 'a'.repeat(1_001) } }), '/match/path/regex', /1000 characters/],
  [matching({ connection_request_index: 0 }), '/match/connection_request_index', /from 1/],
  [matching({ url: 'http://*' }), '/match/url', /add webhook, too/],
  [
    { match: { webhook: 'thing.mad' } },
    '/match/webhook',
    /matches no type of webhook. Did you mean "thing.made"/,
  ],
  [{ match: { webhook: 'things.*' } }, '/match/webhook', /matches no type of webhook/],
  [{ preset: 'erly-cut' }, '/preset', /is no preset\. Did you mean "early-cut"\?/],
  [{ ...fail, match: 'everything', id: 'a b' }, '/id', /without blanks/],
  [{ ...fail, match: 'everything', id: '' }, '/id', /1 to 200/],
  [{ ...fail, match: 'everything', id: 'presets' }, '/id', /list of presets/],
  [{ ...fail, match: 'everything', times: 0 }, '/times', /from 1/],
  [{ ...fail, match: 'everything', priority: 1.5 }, '/priority', /integer/],
  [{ ...fail, match: 'everything', ttl: '10 minutes' }, '/ttl', /duration/],
  [{ ...fail, match: 'everything', then: 'halt' }, '/then', /"stop", "continue"/],
  [{ match: 'everything' }, '/do', /at least one action/],
  [{ match: 'everything', do: [] }, '/do', /at least one action/],
  [doing({}), '/do/0', /exactly one of head, body/],
  [doing({ cut: { at: 'end', how: 'fin' }, raw: { base64: '' } }), '/do/0', /exactly one/],
  [doing({ respnd: { status: 500 } }), '/do/0/respnd', /Did you mean "respond"\?/],
  [
    doing({ cut: { at: 'before-hed', how: 'rst' } }),
    '/do/0/cut/at',
    /is no stage\. Did you mean "before-head"\?/,
  ],
  [doing({ cut: { at: 'mid-way', how: 'rst' } }), '/do/0/cut/at', /is no stage\. .* or a place such as/],
  [doing({ cut: { at: { byte: 1 }, how: 'rst' } }), '/do/0/cut/at/byte', /Did you mean "bytes"\?/],
  [doing({ cut: { at: { bytes: 1, line: 1 }, how: 'rst' } }), '/do/0/cut/at', /exactly one of bytes/],
  [doing({ cut: { at: { fraction: 1.1 }, how: 'rst' } }), '/do/0/cut/at/fraction', /^must be at most 1$/],
  [doing({ cut: { at: 7, how: 'rst' } }), '/do/0/cut/at', /must be one of accept/],
  [doing({ cut: { at: 'end', how: 'slam' } }), '/do/0/cut/how', /"fin", "rst", "pause"/],
  [doing({ respond: { status: 600 } }), '/do/0/respond/status', /200 to 599/],
  [doing({ respond: { status: 400, code: 'not_fund' } }), '/do/0/respond/code', /Did you mean "not_found"\?/],
  [
    doing({ respond: { status: 200, headers: { 'a b': '' } } }),
    '/do/0/respond/headers/a b',
    /not a valid header name/,
  ],
  [doing({ head: { set: { A: 'x\r\nB: y' } } }), '/do/0/head/set/A', /no line break/],
  [doing({ head: { raw: [['A:', '']] } }), '/do/0/head/raw/0/0', /no colon/],
  [
    doing({ respond: { status: 200, headers: { A: '\u0000' } } }),
    '/do/0/respond/headers/A',
    /control character/,
  ],
  [
    doing({ state: { insert_rows: { collection: 'things', records: [{ id: 7 }] } } }),
    '/do/0/state/insert_rows/records/0/id',
    /string/,
  ],
  [doing({ head: { interim: [{ status: 101 }] } }), '/do/0/head/interim/0/status', /101/],
  [doing({ body: { effects: 'none', patch: {} } }), '/do/0/body/effects', /one of text, base64 and fixture/],
  [doing({ body: { text: '', fixture: 'empty' } }), '/do/0/body/fixture', /together with text/],
  [doing({ body: { fixture: 'htm' } }), '/do/0/body/fixture', /"html-error"/],
  [doing({ body: { base64: 'a' } }), '/do/0/body/base64', /base64/],
  [
    doing({ body: { raw_number: { pointer: '/n', digits: '1e' } } }),
    '/do/0/body/raw_number/digits',
    /number/,
  ],
  [doing({ lines: { order: 'backwards' } }), '/do/0/lines/order', /"reverse", "shuffle"/],
  [doing({ frame: { mode: 'chunked', length_delta: 1 } }), '/do/0/frame/length_delta', /"length"/],
  [doing({ pace: { gap_ms: 1 } }), '/do/0/pace/gap_ms', /from 5/],
  [doing({ pace: { max_ms: 600_001 } }), '/do/0/pace/max_ms', /to 600000/],
  [doing({ pace: { chunks: [2, 2] } }), '/do/0/pace/chunks', /ascending/],
  [doing({ pace: { chunks: [1], bytes: 1 } }), '/do/0/pace/bytes', /together with chunks/],
  [doing({ quota: {} }), '/do/0/quota', /at least one/],
  [doing({ quota: { retry_after: 'soon' } }), '/do/0/quota/retry_after', /"seconds"/],
  [doing({ state: {} }), '/do/0/state', /at least one of delete, .*, thing/],
  [doing({ state: { at: 'after-handler' } }), '/do/0/state', /at least one/],
  [doing({ state: { thng: 'break' } }), '/do/0/state/thng', /Did you mean "thing"\?/],
  [doing({ state: { thing: 'bend' } }), '/do/0/state/thing', /"break", "mend"/],
  [doing({ state: { delete: { collection: 'thing' } } }), '/do/0/state/delete/collection', /"things"/],
  [
    doing({ state: { insert_rows: { collection: 'things' } } }),
    '/do/0/state/insert_rows',
    /records or count/,
  ],
  [doing({ state: { cleanup: true, id: { param: 'a', query: 'b' } } }), '/do/0/state/id', /exactly one/],
  [doing({ clock: { offset: '5' } }), '/do/0/clock/offset', /duration/],
  [doing({ deliver: { copies: 2 } }), '/do/0/deliver', /applies to webhooks/],
  [doing({ deliver: { when: 'before-response', drop: true } }), '/do/0/deliver/when', /only parameter/],
  [doing({ deliver: { sign_attempts: 1 } }), '/do/0/deliver/sign_attempts', /give that too/],
  [{ match: { webhook: '*' }, ...fail }, '/do/0/respond', /only deliver/],
  [{ preset: 'late-webhook', match: { method: 'GET' } }, '/match/method', /applies to requests/],
  [{ preset: 'late-webhook', do: fail.do }, '/do/0/respond', /only deliver/],
  [{ preset: 'late-webhook', match: 'everything' }, '/preset', /do\/0\/deliver.*webhook/],
  [{ preset: 'late-webhook', when: { by: 'tag' } }, '/when/by', /cannot be tag/],
  [
    { preset: 'early-cut', match: { body: { '/a': { exists: true } } } },
    '/match/body',
    /before the body is read/,
  ],
  [
    { match: { operation: 'things.list' }, do: [{ cut: { at: 'accept', how: 'rst' } }] },
    '/match/operation',
    /no byte of the request/,
  ],
  [{ preset: 'early-cut', do: [{ cut: { at: 'accept', how: 'rst' } }] }, '/preset', /no byte of the request/],
  [when({ nht: 1 }), '/when/nht', /Did you mean "nth"\?/],
  [when({ nth: 0 }), '/when/nth', /from 1/],
  [when({ probability: 1.5 }), '/when/probability', /^must be at most 1$/],
  [when({ by: 'api-key' }), '/when/by', /Did you mean "api_key"\?/],
  [when({ by: ['tag', 'kee'] }), '/when/by/1', /is no thing to count by/],
  [when({ from: '2026-01-01' }), '/when/from', /zone/],
  [when({ until: {} }), '/when/until', /at least one of calls/],
  [when({ sequence: ['pass'] }), '/do', /never run/],
  [{ match: 'everything', actions: { fail: fail.do }, do: fail.do }, '/actions', /when.sequence/],
  [
    { match: 'everything', when: { sequence: ['fial'] }, actions: { fail: fail.do } },
    '/when/sequence/0',
    /Did you mean "fail"\?/,
  ],
  [
    { match: 'everything', when: { sequence: ['pass'] }, actions: { pass: fail.do } },
    '/actions/pass',
    /another name/,
  ],
  [{ preset: 'in-steps', when: { nth: 1 } }, '/preset', /actions are only valid with when.sequence/],
])('the rule %j is refused', ([raw, pointer, detail]) => {
  expect(problems(raw)).toContainEqual([pointer, expect.stringMatching(detail)])
})

test('a value from a script that is not JSON is refused', () => {
  const loop = doing({ respond: { status: 200, body: { now: () => 1 } } })
  expect(problems(loop)).toEqual([['/do/0/respond/body', 'must be a JSON value']])
})

test('a parameter named __proto__ is kept, since it is a name like any other', () => {
  const raw = JSON.parse('{"match": {"query": {"__proto__": "x"}}, "do": [{"respond": {"status": 500}}]}')
  expect(JSON.stringify(checkDraft(raw, all, settings))).toContain('{"query":{"__proto__":"x"}}')
})

test('the schemas can be converted to JSON Schema', () => {
  for (const schema of [draftSchema(all, settings), storedSchemas(all, settings).rule]) {
    const said = JSON.stringify(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }))
    expect(said).toContain('"before-last-chunk"')
    expect(said).toContain('"regex"')
    expect(said).toContain('"additionalProperties":false')
  }
})

test('the parameters of an action have no schema until a rule has the action', () => {
  const primitives = serviceFacts.primitives.map((each) => ({ ...each, schema: vi.fn(each.schema) }))
  const watched = service([resource], { ...serviceFacts, primitives: primitives as AnyPrimitive[], presets })
  const created = () =>
    primitives.filter(({ schema }) => schema.mock.calls.length > 0).map(({ name }) => name)
  checkDraft(doing({ respond: { status: 500 } }), watched, settings)
  checkDraft(doing({ respond: { status: 700 } }), watched, settings)
  expect(created()).toEqual(['respond'])
})

test('the schemas are created once for a choice of settings', () => {
  expect(draftSchema(all, settings)).toBe(draftSchema(all, settings))
  expect(storedSchemas(all, settings)).toBe(storedSchemas(all, settings))
})
