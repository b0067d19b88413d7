import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { command } from './in-process.ts'
import { running } from './running.ts'

async function completed(url: string, ...words: string[]): Promise<string[]> {
  const { code, out, err } = await command(['completion', 'bash', '--url', url, '--', ...words])
  expect([code, err]).toEqual([0, ''])
  return out === '' ? [] : out.split('\n')
}

const unroutedOperation = 'http://127.0.0.1:1'

test('commands, their second words and their flags are completed without an emulator', async () => {
  expect(await completed(unroutedOperation, 'sn')).toEqual(['snapshot'])
  expect(await completed(unroutedOperation, 'clock', 'a')).toEqual(['advance'])
  expect(await completed(unroutedOperation, 'clock', 'advance', '--un')).toEqual(['--until-batch'])
  expect(await completed(unroutedOperation, 'faults', '--sandbox', 'w1', 'pre')).toEqual(['presets'])
  expect(await completed(unroutedOperation, 'faults', 'add', 'rate')).toEqual([])
})

test('presets, scenarios, sandboxes and operations of the emulator are completed', async () => {
  const { url, run } = await running()
  await run('sandbox', 'create', 'harbor-tests')
  expect(await completed(url, 'faults', 'add', 'rate-l')).toEqual(['rate-limited'])
  expect(await completed(url, 'scenario', 'start', 'partial')).toEqual(['partial-failure'])
  expect(await completed(url, 'requests', '--sandbox', 'harbor')).toEqual(['harbor-tests'])
  expect(await completed(url, 'limits', 'fill', 'pages.')).toEqual(['pages.create'])
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

test('an unknown shell is refused with the known ones', async () => {
  expect((await command(['completion', 'csh'])).err).toBe(
    '<shell>: "csh" is unknown. Give bash, zsh or fish.',
  )
})
