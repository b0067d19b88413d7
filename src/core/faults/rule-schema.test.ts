import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { serviceFacts } from '../../emulator/service.ts'
import { Settings } from '../assumptions.ts'
import { operation } from '../operation.ts'
import { type Resource, service } from '../service.ts'
import { collection } from '../state/collection.ts'
import { checkDraft } from './arm.ts'
import type { Preset } from './preset.ts'
import type { Action, AnyPrimitive } from './primitive.ts'
import { draftSchema, storedSchemas } from './rule-schema.ts'

const list = operation({
  ...({ name: 'things.list', method: 'GET', path: '/things', summary: 'List things' } as const),
  ...({ section: 'none', errorFormat: 'standard', contract: true, success: 200 } as const),
  handle: () => ({}),
})

const schema = () => z.strictObject({ id: z.string() })
const things = collection({ name: 'things', label: 'thing', schema })

const fail = { do: [{ respond: { status: 500 } }] }
const ACCEPT: Action = { cut: { at: 'accept', how: 'rst' } }
const EARLY: Action = { cut: { at: 'before-read', how: 'rst' } }

const preset = (name: string, parts: Partial<Preset>): Preset => ({
  ...{ name, family: 'retry', description: 'A preset.', match: 'everything' },
  ...parts,
})

const presets: Preset[] = [
  preset('early-cut', { match: { operation: 'things.list' }, do: [EARLY] }),
  preset('in-steps', { when: { sequence: ['fail', 'pass'] }, actions: { fail: fail.do } }),
  preset('late-webhook', { match: { webhook: '*' }, do: [{ deliver: { delay: '1m' } }] }),
]

const resource: Resource = {
  name: 'things',
  operations: [list],
  collections: [things],
  webhookTypes: [{ type: 'thing.made', description: 'A thing was made.' }],
  recordFaults: [
    { name: 'thing', description: 'Moves it.', schema: () => z.enum(['break', 'mend']), apply: () => {} },
  ],
}

const all = service([resource], { ...serviceFacts, presets })
const settings = new Settings()

function problems(raw: unknown): [string, string][] {
  const checked = checkDraft(raw, all, settings)
  return 'issues' in checked ? checked.issues.map(({ pointer, detail }) => [pointer, detail]) : []
}

const doing = (action: object) => ({ match: 'everything', do: [action] })
const failing = (more: object) => ({ match: 'everything', ...fail, ...more })
const matching = (match: unknown) => ({ match, ...fail })
const when = (value: unknown) => ({ match: 'everything', when: value, ...fail })

const accepting = (timing: object) => ({ match: 'everything', do: [ACCEPT], ...timing })
const stepping = (step: string, action: string) => {
  const actions = { [action]: fail.do }
  return { match: 'everything', when: { sequence: [step] }, actions }
}
const rows = (more: object) => ({ state: { insert_rows: { collection: 'things', ...more } } })
const WITH_BODY = { body: { '/a': { exists: true } } }

test.for<[what: string, raw: object]>([
  ['a composition', { ...fail, match: { operation: 'things.list', ...WITH_BODY } }],
  ['everything', failing({ id: 'x/y', priority: -1, then: 'continue', times: 1, ttl: '10m' })],
  ['a preset as it is', { preset: 'early-cut' }],
  ['a preset with more to match', { preset: 'early-cut', match: { headers: { 'X-Try': '2' } } }],
  ['a preset for everything', { preset: 'early-cut', match: 'everything', when: { nth: 2 } }],
  ['a preset with a sequence', { preset: 'in-steps' }],
  ['a webhook', { match: { webhook: 'thing.*', url: '*/hook' }, do: [{ deliver: { copies: 2 } }] }],
  ['a response that waits for webhooks', doing({ deliver: { when: 'before-response' } })],
  ['a path by regular expression', matching({ path: { regex: '^/v1/(things|thongs)$' } })],
  ['a connection before its first byte', accepting({ times: 1 })],
  ['a number of connections in a row', accepting({ when: { first: 1_000 } })],
  ['the connections of a while', accepting({ when: { by: 'connection', until: { wall_ms: 600_000 } } })],
  ['a place in the body', doing({ cut: { at: { line: 2, plus_bytes: -1 }, how: 'fin' } })],
  ['a place in the request', doing({ cut: { at: { request_bytes: 10 }, how: 'fin' } })],
  ['a move of a resource', doing({ state: { thing: 'break', id: { body: '/id' } } })],
  ['rows', doing(rows({ count: 2 }))],
  ['headers that no server writes', doing({ head: { raw: [['X y', '\u2028 \u0007']] } })],
  ['odd quota', doing({ quota: { reset_in_s: -1.5, retry_after: { text: 'soon' }, fields: 'both' } })],
  ['a clock that goes back', doing({ clock: { offset: '-5m' } })],
  ['several to count by', when({ by: ['operation', 'idempotency_key'], every: 2, until: { calls: 9 } })],
  ['names that every object has', stepping('constructor', 'constructor')],
])('a rule may be %s', ([, raw]) => {
  expect(problems(raw)).toEqual([])
})

/** Refusals of a part of a rule: the part, the pointer below it, and the reason. */
type Refused = [part: unknown, pointer: string, detail: RegExp]

const expectRefused = (raw: unknown, pointer: string, detail: RegExp) =>
  expect(problems(raw)).toContainEqual([pointer, expect.stringMatching(detail)])

test.for<Refused>([
  [{}, '', /exactly one of head, body/],
  [{ cut: { at: 'end', how: 'fin' }, raw: { base64: '' } }, '', /exactly one/],
  [{ respnd: { status: 500 } }, '/respnd', /Did you mean "respond"\?/],
  [{ cut: { at: 'before-hed', how: 'rst' } }, '/cut/at', /is no stage\. Did you mean "before-head"\?/],
  [{ cut: { at: 'mid-way', how: 'rst' } }, '/cut/at', /is no stage\. .* or a place such as/],
  [{ cut: { at: { byte: 1 }, how: 'rst' } }, '/cut/at/byte', /Did you mean "bytes"\?/],
  [{ cut: { at: { bytes: 1, line: 1 }, how: 'rst' } }, '/cut/at', /exactly one of bytes/],
  [{ cut: { at: { fraction: 1.1 }, how: 'rst' } }, '/cut/at/fraction', /^must be at most 1$/],
  [{ cut: { at: 7, how: 'rst' } }, '/cut/at', /must be one of accept/],
  [{ cut: { at: 'end', how: 'slam' } }, '/cut/how', /"fin", "rst", "pause"/],
  [{ respond: { status: 600 } }, '/respond/status', /200 to 599/],
  [{ respond: { status: 400, code: 'not_fund' } }, '/respond/code', /Did you mean "not_found"\?/],
  [{ respond: { status: 200, headers: { 'a b': '' } } }, '/respond/headers/a b', /not a valid header name/],
  [{ head: { set: { A: 'x\r\nB: y' } } }, '/head/set/A', /no line break/],
  [{ head: { raw: [['A:', '']] } }, '/head/raw/0/0', /no colon/],
  [{ respond: { status: 200, headers: { A: '\u0000' } } }, '/respond/headers/A', /control character/],
  [rows({ records: [{ id: 7 }] }), '/state/insert_rows/records/0/id', /string/],
  [{ head: { interim: [{ status: 101 }] } }, '/head/interim/0/status', /101/],
  [{ body: { effects: 'none', patch: {} } }, '/body/effects', /one of text, base64 and fixture/],
  [{ body: { text: '', fixture: 'empty' } }, '/body/fixture', /together with text/],
  [{ body: { fixture: 'htm' } }, '/body/fixture', /"html-error"/],
  [{ body: { base64: 'a' } }, '/body/base64', /base64/],
  [{ body: { raw_number: { pointer: '/n', digits: '1e' } } }, '/body/raw_number/digits', /number/],
  [{ lines: { order: 'backwards' } }, '/lines/order', /"reverse", "shuffle"/],
  [{ frame: { mode: 'chunked', length_delta: 1 } }, '/frame/length_delta', /"length"/],
  [{ pace: { gap_ms: 1 } }, '/pace/gap_ms', /from 5/],
  [{ pace: { max_ms: 600_001 } }, '/pace/max_ms', /to 600000/],
  [{ pace: { chunks: [2, 2] } }, '/pace/chunks', /ascending/],
  [{ pace: { chunks: [1], bytes: 1 } }, '/pace/bytes', /together with chunks/],
  [{ quota: {} }, '/quota', /at least one/],
  [{ quota: { retry_after: 'soon' } }, '/quota/retry_after', /"seconds"/],
  [{ state: {} }, '/state', /at least one of delete, .*, thing/],
  [{ state: { at: 'after-handler' } }, '/state', /at least one/],
  [{ state: { thng: 'break' } }, '/state/thng', /Did you mean "thing"\?/],
  [{ state: { thing: 'bend' } }, '/state/thing', /"break", "mend"/],
  [{ state: { delete: { collection: 'thing' } } }, '/state/delete/collection', /"things"/],
  [rows({}), '/state/insert_rows', /records or count/],
  [{ state: { cleanup: true, id: { param: 'a', query: 'b' } } }, '/state/id', /exactly one/],
  [{ clock: { offset: '5' } }, '/clock/offset', /duration/],
  [{ deliver: { copies: 2 } }, '/deliver', /applies to webhooks/],
  [{ deliver: { when: 'before-response', drop: true } }, '/deliver/when', /only parameter/],
  [{ deliver: { sign_attempts: 1 } }, '/deliver/sign_attempts', /give that too/],
])('the action %j is refused at %j', ([action, pointer, detail]) => {
  expectRefused(doing(action as object), `/do/0${pointer}`, detail)
})

// The other conditions are those of a match of logged requests.
test.for<Refused>([
  [{}, '', /at least one of operation, method/],
  ['everythin', '', /"everything"/],
  [null, '', /"everything"/],
  [{ operation: 'thing.list' }, '/operation', /Did you mean "things.list"\?/],
  [{ heders: {} }, '/heders', /Did you mean "headers"\?/],
  [{ connection_request_index: 0 }, '/connection_request_index', /from 1/],
  [{ url: 'http://*' }, '/url', /add webhook, too/],
])('the match %j is refused at %j', ([match, pointer, detail]) => {
  expectRefused(matching(match), `/match${pointer}`, detail)
})

test.for<Refused>([
  [{ nht: 1 }, '/nht', /Did you mean "nth"\?/],
  [{ nth: 0 }, '/nth', /from 1/],
  [{ probability: 1.5 }, '/probability', /^must be at most 1$/],
  [{ by: 'api-key' }, '/by', /Did you mean "api_key"\?/],
  [{ by: ['tag', 'kee'] }, '/by/1', /is no thing to count by/],
  [{ from: '2026-01-01' }, '/from', /zone/],
  [{ until: {} }, '/until', /at least one of calls/],
])('the timing %j is refused at %j', ([timing, pointer, detail]) => {
  expectRefused(when(timing), `/when${pointer}`, detail)
})

test.for<[timing: object, detail: RegExp]>([
  [{}, /control interface/],
  [{ ttl: '1h' }, /control interface/],
  [{ times: 1_001 }, /at most 1000/],
  [{ when: { first: 1_001 } }, /control interface/],
  [{ when: { until: { wall_ms: 600_001 } } }, /at most 600000/],
  [{ when: { by: 'connection', nth: 1 } }, /without when\.by/],
  [{ when: { by: 'connection', first: 1 } }, /without when\.by/],
  [{ when: { by: 'connection', until: { calls: 1 } } }, /without when\.by/],
])('a fault at accept with %j is refused, because it has no limit', ([timing, detail]) => {
  expectRefused(accepting(timing), '/times', detail)
})

test.for<Refused>([
  [42, '', /object, not number/],
  [failing({ wen: {} }), '/wen', /no.* known field\. Did you mean "when"\?/],
  [fail, '/match', /is required; use "everything"/],
  [{ preset: 'early-cut', match: {} }, '/match', /at least one of/],
  [{ match: { webhook: 'thing.mad' } }, '/match/webhook', /Did you mean "thing.made"/],
  [{ match: { webhook: 'things.*' } }, '/match/webhook', /matches no type of webhook/],
  [{ preset: 'erly-cut' }, '/preset', /is no preset\. Did you mean "early-cut"\?/],
  [failing({ id: 'a b' }), '/id', /without blanks/],
  [failing({ id: '' }), '/id', /1 to 200/],
  [failing({ id: 'presets' }), '/id', /list of presets/],
  [failing({ times: 0 }), '/times', /from 1/],
  [failing({ priority: 1.5 }), '/priority', /integer/],
  [failing({ ttl: '10 minutes' }), '/ttl', /duration/],
  [failing({ then: 'halt' }), '/then', /"stop", "continue"/],
  [{ match: 'everything' }, '/do', /at least one action/],
  [{ match: 'everything', do: [] }, '/do', /at least one action/],
  [{ match: { webhook: '*' }, ...fail }, '/do/0/respond', /only deliver/],
  [{ preset: 'late-webhook', match: { method: 'GET' } }, '/match/method', /applies to requests/],
  [{ preset: 'late-webhook', do: fail.do }, '/do/0/respond', /only deliver/],
  [{ preset: 'late-webhook', match: 'everything' }, '/preset', /do\/0\/deliver.*webhook/],
  [{ preset: 'late-webhook', when: { by: 'tag' } }, '/when/by', /cannot be tag/],
  [{ preset: 'early-cut', match: WITH_BODY }, '/match/body', /before the body is read/],
  [{ match: { operation: 'things.list' }, do: [ACCEPT] }, '/match/operation', /no byte of the request/],
  [{ preset: 'early-cut', do: [ACCEPT] }, '/preset', /no byte of the request/],
  [when({ sequence: ['pass'] }), '/do', /never run/],
  [failing({ actions: { fail: fail.do } }), '/actions', /when.sequence/],
  [stepping('fial', 'fail'), '/when/sequence/0', /Did you mean "fail"\?/],
  [stepping('pass', 'pass'), '/actions/pass', /another name/],
  [{ preset: 'in-steps', when: { nth: 1 } }, '/preset', /actions are only valid with when.sequence/],
])('the rule %j is refused at %s', ([raw, pointer, detail]) => {
  expectRefused(raw, pointer, detail)
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
