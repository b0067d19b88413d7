import { expect, test } from 'vitest'
import { running } from '../../test/cli/running.ts'
import { Refusal } from '../core/errors.ts'
import { launchOptions, startFailure, unfiredRules } from './launch.ts'
import { type Environment, givenOptions, resolveOptions, START_OPTIONS } from './options.ts'

async function launched(flags: Record<string, string[]>, env: Environment = {}) {
  const warnings: string[] = []
  const logger = { info: () => {}, warn: (text: string) => void warnings.push(text), error: () => {} }
  const given = new Map(Object.entries(flags))
  const options = resolveOptions(START_OPTIONS, given, env)
  const launch = await launchOptions(options, givenOptions(START_OPTIONS, given, env), logger)
  return { launch, warnings }
}

test('options for scenarios, faults and webhooks reach the emulator, and a missing folder is a warning', async () => {
  const receivers = ['a.test:80', '[fd00::5]:81']
  const env = { WORKSPACE_EMULATOR_SCENARIOS: '/nowhere', WORKSPACE_EMULATOR_REVEAL_FAULTS: '1' }
  const { launch, warnings } = await launched({ allowWebhooks: receivers }, env)
  expect(launch).toMatchObject({ scenarios: '/nowhere', revealFaults: true, allowWebhooks: receivers })
  expect(warnings).toEqual([
    '/nowhere is not a directory: until it is, there are only the built-in scenarios.',
  ])
  const usual = await launched({})
  expect(usual.launch).toMatchObject({ scenarios: 'scenarios', scenario: undefined, revealFaults: false })
  expect(usual.warnings).toEqual([])
})

const DOCTOR = ' Run "workspace-emulator doctor" to find the problem.'

test('a failure of the file system leads to doctor, whether Node or the emulator reports it', async () => {
  const system = Object.assign(new Error('EMFILE: too many open files, open'), { syscall: 'open' })
  expect(await startFailure(system)).toBe(`EMFILE: too many open files, open.${DOCTOR}`)
  const refusal = new Refusal('storage_unavailable', {
    detail: 'The lock of the data folder cannot be checked: EMFILE.',
  })
  expect(await startFailure(refusal)).toBe(`The lock of the data folder cannot be checked: EMFILE.${DOCTOR}`)
})

test('an error of a kind that only a defect throws is reported as a defect', async () => {
  expect(await startFailure(new TypeError('x is not a function'))).toMatch(
    /^The emulator failed to start\. This is a defect/,
  )
})

test('rules that never fired are listed for each sandbox, the first ten with how often they matched', async () => {
  const { run, emulator } = await running()
  await run('faults', 'add', 'server-error', '--first', '1')
  await run('faults', 'add', '{"preset": "rate-limited", "when": {"nth": 2}}')
  const rule = { match: { operation: 'pages.create' }, do: [{ respond: { status: 500 } }] }
  const rules = Array.from({ length: 12 }, (_, n) => ({ ...rule, id: `rule-${n}` }))
  await run('faults', 'add', JSON.stringify(rules), '--sandbox', 'w1')
  for (let n = 0; n < 2; n++) await fetch(`${emulator.baseUrl}/data-views`)
  const sandboxes = emulator.sandboxes.list().map(({ sandbox }) => sandbox)
  expect(unfiredRules(sandboxes)).toEqual([
    'Fault rules of default that never fired: rate-limited (matched 1 time)',
    expect.stringMatching(
      /^Fault rules of w1 that never fired: rule-0 \(matched 0 times\), .*rule-9 \(matched 0 times\), and 2 more$/,
    ),
  ])
  const many = Array.from({ length: 23 }, () => sandboxes[1] ?? emulator.sandbox)
  expect(unfiredRules(many)).toHaveLength(21)
  expect(unfiredRules(many).at(-1)).toBe('and others in 3 more sandboxes')
})
