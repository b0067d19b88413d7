import { expect, test } from 'vitest'
import { type RequestOptions, type TestEmulator, testEmulator } from '../../support/emulator.ts'
import { pointersOf, refused } from '../../support/refusal.ts'

function aTemplate(id: string, changes: object = {}, facts: object = {}) {
  return {
    id,
    title: 'Invoice reader',
    description: 'Reads invoices',
    emoji: '\u{1F9FE}',
    category: 'finance',
    connectors: [{ kind: 'drive', __odd: [1, null] }, {}],
    ...{ prompt_examples: ['Read this', ''], is_curated_template: true },
    config: { prompt: 'Read.', custom_prompt: '', tools: [{ tool: 'ocr' }] },
    claim_token: `token-${id}`,
    ...changes,
    _emulator: { teamspace_id: 'ts-a', ...facts },
  }
}

const config = { prompt: '', custom_prompt: '', tools: [] }

const withTemplates = (...agent_templates: object[]) => testEmulator({ collections: { agent_templates } })
const claimEmulator = () => withTemplates(aTemplate('t1'), aTemplate('t2'))

function claim(emulator: TestEmulator, claim_token: unknown, options?: RequestOptions) {
  return emulator.post('/agents/claim', { claim_token }, options)
}

test('a claim responds with the template', {
  tags: ['R062', 'R063', 'R064', 'R065', 'R066', 'R136'],
}, async () => {
  const { status, body } = await claim(await claimEmulator(), 'token-t1')
  const { _emulator: _, claim_token: __, ...template } = aTemplate('t1')
  expect(status).toBe(200)
  expect(body).toEqual(template)
})

test('a template may have no connectors and no tools', { tags: ['R063', 'R066'] }, async () => {
  const bare = { connectors: undefined, config }
  const { body } = await claim(await withTemplates(aTemplate('t1', bare)), 'token-t1')
  expect([body.connectors, body.config.tools]).toEqual([[], []])
})

test.for<[title: string, change: object, pointer: string]>([
  ['a title that is no string', { title: null }, '/title'],
  ['an emoji that is missing', { emoji: undefined }, '/emoji'],
  ['a connector that is no object', { connectors: ['drive'] }, '/connectors/0'],
  ['a prompt example that is no string', { prompt_examples: [1] }, '/prompt_examples/0'],
  ['is_curated_template as a string', { is_curated_template: 'yes' }, '/is_curated_template'],
  ['a tool that is a string', { config: { ...config, tools: ['ocr'] } }, '/config/tools/0'],
  ['a config without custom_prompt', { config: { prompt: '', tools: [] } }, '/config/custom_prompt'],
])(
  '%s is refused in a fixture',
  { tags: ['R062', 'R063', 'R064', 'R065', 'R066'] },
  async ([, change, pointer]) => {
    const place = `/collections/agent_templates/0${pointer}`
    await expect(withTemplates(aTemplate('t1', change))).rejects.toThrow(place)
  },
)

test('a token works once, also after a restart', { tags: ['R119', 'R135'] }, async () => {
  const emulator = await claimEmulator()
  expect((await claim(emulator, 'token-t1')).status).toBe(200)
  for (const each of [emulator, await emulator.restart()]) {
    await refused(each, () => claim(each, 'token-t1'), 404, 'not_found')
    expect((await claim(each, 'token-t2')).status).toBe(200)
  }
})

test('of 50 concurrent claims of one token exactly one succeeds', { tags: ['R119'] }, async () => {
  const emulator = await claimEmulator()
  const responses = await Promise.all(Array.from({ length: 50 }, () => claim(emulator, 'token-t1')))
  expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array(49).fill(404)])
})

test.for([[1], [null], [undefined], [''], [['token-t1']]])(
  '%j is no claim token',
  { tags: ['R134'] },
  async ([token]) => {
    const emulator = await claimEmulator()
    const response = await refused(emulator, () => claim(emulator, token), 400, 'validation_failed')
    expect(pointersOf(response)).toEqual(['/claim_token'])
  },
)

test('a token has to match exactly, and its digest is none', { tags: ['R134'] }, async () => {
  const emulator = await claimEmulator()
  const digest = emulator.state('agent_templates')[0].claim_token
  expect(digest).toMatch(/^sha256:/)
  for (const token of ['token-t1 ', 'TOKEN-t1', 'token-t', digest])
    await refused(emulator, () => claim(emulator, token), 404)
})

test('a token of another teamspace gets the 404 of an unknown one', { tags: ['R136'] }, async () => {
  const emulator = await withTemplates(
    aTemplate('t1', {}, { teamspace_id: 'ts-b' }),
    aTemplate('t2', {}, { teamspace_id: null }),
  )
  const foreign = await refused(emulator, () => claim(emulator, 'token-t1'), 404)
  expect(foreign.text).toBe((await claim(emulator, 'token-t9')).text)
  expect((await claim(emulator, 'token-t1', { key: 'K2' })).status).toBe(200)
  expect((await claim(emulator, 'token-t2')).status).toBe(200)
})

test('neither a 401 nor a 429 consumes a token', { tags: ['R137'] }, async () => {
  const emulator = await testEmulator({
    settings: { 'limits.overrides': [{ operation: 'agents.claim', limit: 1, window_s: 60 }] },
    collections: { agent_templates: [aTemplate('t1')] },
  })
  await refused(emulator, () => claim(emulator, 'token-t1', { token: 'live_nobody' }), 401)
  await refused(emulator, () => claim(emulator, 'token-t9'), 404)
  await refused(emulator, () => claim(emulator, 'token-t1'), 429, 'rate_limit_exceeded')
  emulator.advance('60s')
  expect((await claim(emulator, 'token-t1')).status).toBe(200)
})

test('generate responds with a token that claims a template', { tags: ['R134', 'R223'] }, async () => {
  const emulator = await testEmulator()
  const made = await emulator.post('/agents/generate', { title: 'Mine', emoji: 1, config: null, prompt: 'x' })
  expect([made.status, Object.keys(made.body), made.assumed]).toEqual([200, ['claim_token'], ['U043']])
  const { status, body } = await claim(emulator, made.body.claim_token)
  expect(status).toBe(200)
  expect(body).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{24}$/),
    ...{ title: 'Mine', description: 'x', emoji: '', category: '', is_curated_template: false },
    ...{ connectors: [], prompt_examples: [], config: { ...config, prompt: 'x' } },
  })
})
