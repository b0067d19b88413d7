import { expect, test } from 'vitest'
import { type RequestOptions, type TestEmulator, testEmulator } from '../../support/emulator.ts'

function aTemplate(id: string, changes: Readonly<Record<string, unknown>> = {}, facts: object = {}) {
  return {
    id,
    title: 'Invoice reader',
    description: 'Reads invoices',
    emoji: '\u{1F9FE}',
    category: 'finance',
    connectors: [{ kind: 'drive', __odd: [1, null] }, {}],
    prompt_examples: ['Read this', ''],
    is_curated_template: true,
    config: { prompt: 'Read.', custom_prompt: '', tools: [{ tool: 'ocr' }] },
    claim_token: `token-${id}`,
    ...changes,
    _emulator: { teamspace_id: 'ts-a', ...facts },
  }
}

const claimEmulator = () =>
  testEmulator({ collections: { agent_templates: [aTemplate('t1'), aTemplate('t2')] } })

function claim(emulator: TestEmulator, claim_token: unknown, options?: RequestOptions) {
  return emulator.post('/agents/claim', { claim_token }, options)
}

test('a claim responds with every field of the template', {
  tags: ['R062', 'R063', 'R064', 'R065', 'R066', 'R136'],
}, async () => {
  const { status, body, assumed } = await claim(await claimEmulator(), 'token-t1')
  const { _emulator: _, claim_token: __, ...template } = aTemplate('t1')
  expect(status).toBe(200)
  expect(body).toEqual(template)
  expect(assumed).toContain('U007')
})

test('a template may have no connectors and no tools', { tags: ['R063', 'R066'] }, async () => {
  const bare = { connectors: undefined, config: { prompt: '', custom_prompt: '', tools: [] } }
  const emulator = await testEmulator({ collections: { agent_templates: [aTemplate('t1', bare)] } })
  const { body } = await claim(emulator, 'token-t1')
  expect([body.connectors, body.config.tools]).toEqual([[], []])
})

test.for<[title: string, change: object, pointer: string]>([
  ['a title that is no string', { title: null }, '/title'],
  ['an emoji that is missing', { emoji: undefined }, '/emoji'],
  ['a connector that is no object', { connectors: ['drive'] }, '/connectors/0'],
  ['a prompt example that is no string', { prompt_examples: [1] }, '/prompt_examples/0'],
  ['is_curated_template as a string', { is_curated_template: 'yes' }, '/is_curated_template'],
  [
    'a tool that is a string',
    { config: { prompt: '', custom_prompt: '', tools: ['ocr'] } },
    '/config/tools/0',
  ],
  ['a config without custom_prompt', { config: { prompt: '', tools: [] } }, '/config/custom_prompt'],
])(
  '%s is refused in a fixture',
  { tags: ['R062', 'R063', 'R064', 'R065', 'R066'] },
  async ([, change, pointer]) => {
    const collections = { agent_templates: [aTemplate('t1', change as Readonly<Record<string, unknown>>)] }
    await expect(testEmulator({ collections })).rejects.toThrow(`/collections/agent_templates/0${pointer}`)
  },
)

test('a token works once', { tags: ['R119', 'R135'] }, async () => {
  const emulator = await claimEmulator()
  expect((await claim(emulator, 'token-t1')).status).toBe(200)
  const before = emulator.digest()
  const { status, body } = await claim(emulator, 'token-t1')
  expect([status, body.error]).toEqual([404, 'not_found'])
  expect(emulator.digest()).toBe(before)
  expect((await claim(emulator, 'token-t2')).status).toBe(200)
})

test('of 50 concurrent claims of one token exactly one succeeds', { tags: ['R119'] }, async () => {
  const emulator = await claimEmulator()
  const responses = await Promise.all(Array.from({ length: 50 }, () => claim(emulator, 'token-t1')))
  expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array(49).fill(404)])
})

test('a claimed token stays consumed after a restart', { tags: ['R119'] }, async () => {
  const emulator = await claimEmulator()
  expect((await claim(emulator, 'token-t1')).status).toBe(200)
  const again = await emulator.restart()
  expect((await claim(again, 'token-t1')).status).toBe(404)
  expect((await claim(again, 'token-t2')).status).toBe(200)
})

test.for([
  ['a number', 1],
  ['null', null],
  ['an absent member', undefined],
  ['an empty string', ''],
  ['an array with the token', ['token-t1']],
] as const)('%s is no claim token', { tags: ['R134'] }, async ([, token]) => {
  const emulator = await claimEmulator()
  const before = emulator.digest()
  const { status, body } = await claim(emulator, token)
  expect([status, body.error]).toEqual([400, 'validation_failed'])
  expect(body.details.errors[0].pointer).toBe('/claim_token')
  expect(emulator.digest()).toBe(before)
})

test('a token has to match exactly: no trimming, no case folding, no digest from the state file', {
  tags: ['R134'],
}, async () => {
  const emulator = await claimEmulator()
  const digest = emulator.state('agent_templates')[0].claim_token
  expect(digest).toMatch(/^sha256:/)
  for (const token of ['token-t1 ', 'TOKEN-t1', 'token-t', digest]) {
    expect((await claim(emulator, token)).status).toBe(404)
  }
})

test('the token of a template of another teamspace gets the same 404 as an unknown token', {
  tags: ['R136'],
}, async () => {
  const agent_templates = [
    aTemplate('t1', {}, { teamspace_id: 'ts-b' }),
    aTemplate('t2', {}, { teamspace_id: null }),
  ]
  const emulator = await testEmulator({ collections: { agent_templates } })
  const foreign = await claim(emulator, 'token-t1')
  expect(foreign.status).toBe(404)
  expect(foreign.text).toBe((await claim(emulator, 'token-t9')).text)
  expect((await claim(emulator, 'token-t1', { key: 'K2' })).status).toBe(200)
  expect((await claim(emulator, 'token-t2')).status).toBe(200)
})

test('neither a 401 nor a 429 consumes a token', { tags: ['R137'] }, async () => {
  const overrides = [{ operation: 'agents.claim', limit: 1, window_s: 60 }]
  const emulator = await testEmulator({
    settings: { 'limits.overrides': overrides },
    collections: { agent_templates: [aTemplate('t1')] },
  })
  expect((await claim(emulator, 'token-t1', { key: 'none' })).status).toBe(401)
  expect((await claim(emulator, 'token-t1', { token: 'live_nobody' })).status).toBe(401)
  expect((await claim(emulator, 'token-t9')).status).toBe(404)
  const { status, body } = await claim(emulator, 'token-t1')
  expect([status, body.error]).toEqual([429, 'rate_limit_exceeded'])
  emulator.advance('60s')
  expect((await claim(emulator, 'token-t1')).status).toBe(200)
})

test('generate responds with only a claim token, which claims a template', {
  tags: ['R134', 'R223'],
}, async () => {
  const emulator = await testEmulator()
  const made = await emulator.post('/agents/generate', { title: 'Mine', emoji: 1, config: null, prompt: 'x' })
  expect([made.status, Object.keys(made.body), made.assumed]).toEqual([200, ['claim_token'], ['U043']])
  const { status, body } = await claim(emulator, made.body.claim_token)
  expect(status).toBe(200)
  expect(body).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{24}$/),
    title: 'Mine',
    description: 'x',
    emoji: '',
    category: '',
    connectors: [],
    prompt_examples: [],
    is_curated_template: false,
    config: { prompt: 'x', custom_prompt: '', tools: [] },
  })
})

test('each generated token is unique, and the state document contains none of them', {
  tags: ['R135'],
}, async () => {
  const emulator = await testEmulator()
  const tokens = []
  for (let n = 0; n < 3; n++) tokens.push((await emulator.post('/agents/generate', {})).body.claim_token)
  expect(new Set(tokens).size).toBe(3)
  const document = JSON.stringify(emulator.sandbox.document())
  expect(tokens.filter((token) => document.includes(token))).toEqual([])
})

test('under --strict generate is a 501 that creates nothing, while claim works', {
  tags: ['R223'],
}, async () => {
  const emulator = await testEmulator({ strict: true, collections: { agent_templates: [aTemplate('t1')] } })
  const before = emulator.digest()
  const { status, body } = await emulator.post('/agents/generate', {})
  expect([status, body.error, body.retryable]).toEqual([501, 'emulator_contract_unspecified', false])
  expect(emulator.digest()).toBe(before)
  expect((await claim(emulator, 'token-t1')).status).toBe(200)
})
