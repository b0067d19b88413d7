import { expect, test } from 'vitest'
import * as z from 'zod'
import { callControlOver } from '../../src/control-client/ask.ts'
import { faultsOver } from '../../src/control-client/faults.ts'
import type { AnyPrimitive } from '../../src/core/faults/primitive.ts'
import type { FaultDraft } from '../../src/core/faults/rule.ts'
import { service } from '../../src/core/service.ts'
import { either, form, strictObject } from '../../src/core/strict-input.ts'
import { serviceFacts } from '../../src/emulator/service.ts'
import { resources } from '../../src/service/index.ts'
import { type TestEmulator, testEmulator } from '../support/emulator.ts'
import { MemoryScenarios, type TestScenario } from '../support/memory-scenarios.ts'

const greeting = strictObject({
  word: z.string().default('hello'),
  tone: either<{ readonly is: string }>(
    'must be an object',
    form.object(strictObject({ is: z.string().default('warm') })),
  ).default({ is: 'plain' }),
})

/** A primitive with defaults, one of them inside a value of several forms: it adds a header to a response. */
const greet = {
  name: 'greet',
  kind: 'state',
  description: 'a greeting',
  schema: () => greeting,
  step: () => 'log',
  effect: {
    headers: (
      { given }: { readonly given: readonly { readonly parameters: z.output<typeof greeting> }[] },
      list: readonly (readonly [string, string])[],
    ) => [
      ...list,
      ...given.map(({ parameters: { word, tone } }) => ['X-Greeting', `${word}, ${tone.is}`] as const),
    ],
  },
} as unknown as AnyPrimitive

const greeted = service(resources, { ...serviceFacts, primitives: [...serviceFacts.primitives, greet] })

const RULE = { match: 'everything', do: [{ greet: { tone: {} } }] } as unknown as FaultDraft
const STUB = { method: 'GET', path: '/search', body: {} }

type Way = readonly [name: string, prepare: (emulator: TestEmulator) => unknown, scenario?: TestScenario]

const start = ({ control }: TestEmulator) => control('POST', '/scenarios/greeting/start')

const later = async (emulator: TestEmulator) => {
  await start(emulator)
  await emulator.control('POST', '/clock/advance', { by: '1m' })
}

const command = { kind: 'arm', rule: RULE as unknown as Record<string, never> } as const

const RULES: readonly Way[] = [
  ['the control interface', ({ control }) => control('POST', '/faults', RULE)],
  ['a list', ({ control }) => control('POST', '/faults', [RULE])],
  ['the library', ({ emulator }) => faultsOver(callControlOver(emulator.control)).arm(RULE)],
  ['a scenario', start, { faults: [RULE] }],
  ['a step of a timeline', later, { timeline: [{ at: '1m', do: [{ arm: RULE }] }] }],
  ['a function of a scenario', later, { timeline: [{ at: '1m', do: () => [command] }] }],
  [
    'a state document',
    async ({ control, sandbox }) => {
      await control('POST', '/faults', { ...RULE, do: [{ greet: { word: 'hi' } }] })
      const document = JSON.parse(JSON.stringify(sandbox.document()))
      document.faults[0].do = RULE.do
      await control('PUT', '/state', document)
    },
  ],
]

const STUBS: readonly Way[] = [
  ['the control interface', ({ control }) => control('POST', '/stubs', STUB)],
  ['fixtures', ({ control }) => control('POST', '/fixtures', { stubs: [STUB] })],
  ['a scenario', start, { stubs: [STUB] }],
]

const opened = ([, , scenario]: Way) =>
  testEmulator({
    service: greeted,
    ...(scenario && { scenarioSource: new MemoryScenarios({ greeting: scenario }) }),
  })

test.for(RULES)(
  'the defaults of a rule and of its primitive hold from %s: it fires on every match, alone',
  async (way) => {
    const emulator = await opened(way)
    await way[1](emulator)
    await emulator.control('POST', '/faults', { id: 'later', ...RULE, priority: -1 })
    for (const _ of [1, 2])
      expect((await emulator.get('/organization/teamspaces')).headers.get('x-greeting')).toBe('hello, warm')
  },
)

test.for(STUBS)('the default status of a stub from %s is sent', async (way) => {
  const emulator = await opened(way)
  await way[1](emulator)
  const { status, body } = await emulator.get('/search')
  expect([status, body]).toEqual([200, {}])
})
