import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { command, temporaryDirectory } from '../cli/in-process.ts'
import { run } from '../package/run.ts'
import { recording } from './support.ts'

/** Runs the test that a recording becomes, after a change of its text. */
async function vitest(change: (text: string) => string = (text) => text) {
  const replayed = await command(['replay', (await recording()).file, '--to', 'vitest'])
  expect(replayed.code).toBe(0)
  const folder = temporaryDirectory()
  writeFileSync(join(folder, 'recorded.test.ts'), change(replayed.out))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(resolve('.'), join(folder, 'node_modules/agent-workspace-emulator'))
  symlinkSync(resolve('node_modules/vitest'), join(folder, 'node_modules/vitest'))
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--testTimeout=60000', '--root', folder]
  const { code, out, err } = await run('.', process.execPath, args, { NO_COLOR: '1' })
  return [code, out + err] as const
}

test('the test of a recording passes', async () => {
  const [code, text] = await vitest()
  expect(code, text).toBe(0)
  expect(text).toContain('1 passed')
})

test('the test of a recording fails when a response is another one', async () => {
  const [code, text] = await vitest((test) => test.replace('toBe(404)', 'toBe(405)'))
  expect([code, text]).toEqual([1, expect.stringContaining('expected 404 to be 405')])
})

test('a replay that waits for something else than the recording has ends with an error', async () => {
  const { file, text } = await recording()
  const bundle = JSON.parse(text)
  const control = {
    route: 'POST /requests/wait',
    params: {},
    body: { match: { method: 'GET' }, count: 99, timeout_ms: 120_000 },
  }
  Object.assign(bundle.inputs[2], { control })
  writeFileSync(file, JSON.stringify(bundle))
  const { code, err } = await command(['replay', file])
  expect([code, err]).toEqual([
    1,
    expect.stringContaining('Input 3 (control POST /requests/wait) does not end'),
  ])
}, 60_000)
