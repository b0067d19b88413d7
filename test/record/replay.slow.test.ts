import { execFile } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { command, temporaryDirectory } from '../cli/in-process.ts'
import { recording } from './support.ts'

function output(file: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const options = { env: { ...process.env, NO_COLOR: '1', WORKSPACE_EMULATOR_URL: '', ...env } }
  return new Promise<readonly [code: unknown, text: string]>((done) => {
    execFile(file, args, options, (error, out, err) => done([error?.code ?? 0, out + err]))
  })
}

async function written(form: string, name: string, change: (text: string) => string): Promise<string> {
  const { file } = await recording()
  const { code, out } = await command(['replay', file, '--to', form])
  expect(code).toBe(0)
  const folder = temporaryDirectory()
  writeFileSync(join(folder, name), change(out))
  return folder
}

async function vitest(change: (text: string) => string) {
  const folder = await written('vitest', 'recorded.test.ts', change)
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(resolve('.'), join(folder, 'node_modules/agent-workspace-emulator'))
  symlinkSync(resolve('node_modules/vitest'), join(folder, 'node_modules/vitest'))
  return output(process.execPath, [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--testTimeout=60000',
    '--root',
    folder,
  ])
}

const same = (text: string) => text

test('the test of a recording passes', async () => {
  const [code, text] = await vitest(same)
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
