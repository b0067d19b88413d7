import { expect, test } from 'vitest'
import { launchOptions } from './launch.ts'
import { resolveOptions, START_OPTIONS } from './options.ts'

const logger = { info: () => {}, warn: () => {}, error: () => {} }

test('receivers of webhooks on other machines come from the repeated flag, or from its variable with commas', async () => {
  const flags = new Map([['allowWebhooks', ['a.test:80', '[fd00::5]:81']]])
  const options = resolveOptions(START_OPTIONS, flags, {})
  expect((await launchOptions(options, new Set(), logger)).allowWebhooks).toEqual([
    'a.test:80',
    '[fd00::5]:81',
  ])
  const env = { WORKSPACE_EMULATOR_ALLOW_WEBHOOK: 'a.test:80, b.test:81' }
  const given = resolveOptions(START_OPTIONS, new Map(), env)
  expect((await launchOptions(given, new Set(), logger)).allowWebhooks).toEqual(['a.test:80', 'b.test:81'])
})

test('the options for scenarios and for revealing faults reach the emulator', async () => {
  const flags = new Map([['scenario', ['partial-failure']]])
  const env = { WORKSPACE_EMULATOR_SCENARIOS: 'mine', WORKSPACE_EMULATOR_REVEAL_FAULTS: '1' }
  const options = await launchOptions(
    resolveOptions(START_OPTIONS, flags, env),
    new Set(['scenarios']),
    logger,
  )
  expect(options).toMatchObject({ scenarios: 'mine', scenario: 'partial-failure', revealFaults: true })
  const usual = await launchOptions(resolveOptions(START_OPTIONS, new Map(), {}), new Set(), logger)
  expect(usual).toMatchObject({ revealFaults: false })
  expect(usual).toMatchObject({ scenario: undefined, scenarios: 'scenarios' })
})
