import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { fakeControl } from './fake-control.ts'
import { command } from './in-process.ts'

test.for([
  ['sn', 'snapshot', []],
  ['clock a', 'advance', []],
  ['clock advance --un', '--until-batch', []],
  ['faults --sandbox w1 pre', 'presets', []],
  ['faults add rate', 'rate-limited', ['/__emulator/fault-presets']],
  ['scenario start partial', 'partial-failure', ['/__emulator/scenarios']],
  ['requests --sandbox harbor', 'harbor-tests', ['/__emulator/sandboxes']],
  ['limits fill pages.', 'pages.create', ['/__emulator/operations']],
] as const)('the words "%s" are completed to %s from %j', async ([words, completed, paths]) => {
  const names = ['rate-limited', 'partial-failure', 'harbor-tests', 'pages.create']
  const { url, asked } = await fakeControl({ data: names.map((name) => ({ name })) })
  const argv = ['completion', 'bash', '--url', url, '--', ...words.split(' ')]
  expect(await command(argv)).toEqual({ code: 0, out: completed, err: '' })
  expect(asked.map(({ path }) => path)).toEqual(paths)
})

test('without an emulator its names are not completed', async () => {
  const argv = ['completion', 'bash', '--url', 'http://127.0.0.1:1', '--', 'faults', 'add', 'rate']
  expect(await command(argv)).toEqual({ code: 0, out: '', err: '' })
})

test.for(['bash', 'zsh', 'fish'])('%s has a script, which asks the program itself', async (shell) => {
  const { code, out } = await command(['completion', shell])
  expect(code).toBe(0)
  expect(out).toContain(`workspace-emulator completion ${shell} -- `)
})

test('bash accepts its script', async () => {
  const { out } = await command(['completion', 'bash'])
  const shown = `${out}\ncomplete -p workspace-emulator`
  expect(execFileSync('bash', ['-c', shown], { encoding: 'utf8' })).toContain('-F _workspace_emulator')
})
