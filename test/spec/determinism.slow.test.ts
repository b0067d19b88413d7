import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { quiet } from '../support/data-folder.ts'

/** Requests of a client of many operations; `{batch}` is the id in the response of the first creation. */
const SCRIPT: readonly (readonly [method: string, path: string, body?: object])[] = [
  ['GET', '/v1/organization/teamspaces/teamspace-harbor/users?limit=7'],
  ['POST', '/v1/pages', { name: 'Roof plan' }],
  ['POST', '/v1/batch-predictions', batch()],
  ['POST', '/__emulator/clock/advance', { by: '2100ms' }],
  ['GET', '/v1/batch-predictions/{batch}'],
  ['POST', '/__emulator/clock/advance', { by: '40h' }],
  ['GET', '/v1/batch-predictions/{batch}'],
  ['GET', '/v1/batch-predictions/{batch}/results'],
  [
    'GET',
    '/v1/organization/reports/consumption-breakdown?start_date=2026-01-01&end_date=2026-02-01T10:00:00',
  ],
  ['POST', '/v1/pages', { name: 5 }],
  ['GET', '/v1/nothing'],
  ['POST', '/v1/agents/generate', {}],
]

function batch(): object {
  const output_schema = {
    type: 'object',
    properties: {
      vendor: { type: 'string' },
      total: { type: 'number' },
      due: { type: 'string', format: 'date-time' },
    },
  }
  const items = ['a', 'b', 'c'].map((custom_id) => ({ file_id: 'file-invoice-1', custom_id }))
  return { prompt: 'p', output_schema, model: 'm', items }
}

test('the same seed, clock and requests give the same bytes, on two data directories and in three time zones', {
  tags: ['R003', 'R296'],
}, async () => {
  const runs = await Promise.all([run('UTC'), run('America/New_York'), run('Asia/Kathmandu')])
  const [first, ...others] = runs
  expect(first?.transcript).toHaveLength(SCRIPT.length)
  for (const other of others) {
    expect(other.transcript).toEqual(first?.transcript)
    expect(other.state).toBe(first?.state)
  }
})

async function run(zone: string): Promise<{ transcript: string[]; state: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'workspace-zone-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const flags = [
    '--port',
    '0',
    '--json',
    '--quiet',
    '--rate',
    '0',
    '--seed',
    '7',
    '--clock',
    '2026-03-29T00:30:00Z',
    '--data',
    folder,
  ]
  const child = spawn(process.execPath, ['dist/cli.js', 'start', ...flags], {
    env: { ...process.env, TZ: zone },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  // Without a build, or if the port is taken, the process ends without output.
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`dist/cli.js ended with ${code} before it was ready; run npm run build first`)
  })
  const [line] = (await Promise.race([once(child.stdout, 'data'), ended])) as [Buffer]
  const { port } = JSON.parse(line.toString()) as { port: number }
  const transcript: string[] = []
  let id = ''
  for (const [method, path, body] of SCRIPT) {
    const response = await fetch(`http://127.0.0.1:${port}${path.replace('{batch}', id)}`, {
      method,
      headers: { authorization: 'Bearer live_demo_owner', 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (path === '/v1/batch-predictions') id = (JSON.parse(text) as { id: string }).id
    transcript.push(`${method} ${path} ${response.status} ${JSON.stringify([...response.headers])} ${text}`)
  }
  // The grace period of SIGTERM may be too short for a last checkpoint, which would leave a part of the state in the journal.
  await quiet(folder, ['default.json'], id)
  child.kill('SIGTERM')
  await once(child, 'exit')
  return { transcript, state: readFileSync(join(folder, 'default.json'), 'utf8') }
}
