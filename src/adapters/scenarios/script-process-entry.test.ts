import { fork } from 'node:child_process'
import { on, once } from 'node:events'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { dataFolder } from '../../../test/support/data-folder.ts'
import { script, writeFiles } from '../../../test/support/scenario-folder.ts'
import type { Task } from './protocol.ts'
import { processEntry } from './script-process.ts'

test('the built process loads a TypeScript file without any installed package', async () => {
  const folder = dataFolder()
  writeFiles(folder, { 'typed.ts': script("{ description: 'built' as string, on: { a: () => {} } }") })
  const entry = processEntry(pathToFileURL(resolve('dist/emulator.cjs')).href)
  expect(entry).toBe(resolve('dist/scenario-process.js'))
  expect(processEntry()).toBe(entry)
  const child = fork(entry, [folder], {
    execArgv: [],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc', 'pipe', 'pipe'],
  })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await once(child, 'close')
  })
  child.send({ id: 1, kind: 'load', file: `${folder}/typed.ts` } satisfies Task)
  const said: unknown[] = []
  for await (const [message] of on(child, 'message')) if (said.push(message) === 2) break
  expect(said).toEqual([
    { ready: true },
    {
      id: 1,
      outcome: { loaded: { text: '{"description":"built","on":{}}', functions: ['/on/a'], issues: [] } },
      outside: [],
    },
  ])
})
