import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { temporaryDirectory, temporaryFile } from '../cli/in-process.ts'
import { running } from '../cli/running.ts'

let made: Promise<string> | undefined

/** A recording of six inputs, and its file. */
export async function recording() {
  made ??= record()
  const text = await made
  const file = temporaryFile('recording.json', text)
  return { file, text }
}

async function record(): Promise<string> {
  const { emulator, run } = await running({ fixtures: 'demo' })
  const call = async (path: string, body?: object) => {
    const headers = { authorization: 'Bearer live_demo_owner', 'content-type': 'application/json' }
    const post = body && { method: 'POST', body: JSON.stringify(body) }
    return (await fetch(`${emulator.baseUrl}${path}`, { headers, ...post })).text()
  }
  await call('/pages', { name: `Roof \`\${plan}\` of the owner's` })
  await call('/nothing')
  await run('webhook', 'add', 'http://127.0.0.1:9/hook', '--secret', 'the-secret-of-the-user')
  await run('clock', 'advance', '1h')
  await run('faults', 'add', 'server-error')
  await call('/data-views')
  const file = join(temporaryDirectory(), 'recording.json')
  expect(await run('record', '-o', file)).toMatchObject({ code: 0, err: '' })
  return readFileSync(file, 'utf8')
}
