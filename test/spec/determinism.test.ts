import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { alive, dataFolder } from '../support/data-folder.ts'

const text = { type: 'string' }
/** A schema of values that depend on the seed and the clock. */
const output_schema = {
  type: 'object',
  properties: { vendor: text, total: { type: 'number' }, due: { ...text, format: 'date-time' } },
}
const items = ['a', 'b', 'c'].map((custom_id) => ({ file_id: 'file-invoice-1', custom_id }))
const REPORT = '/v1/organization/reports/consumption-breakdown'

/** Requests of a client of many operations; `{batch}` is the id in the response of the first creation. */
const SCRIPT: readonly (readonly [method: string, path: string, body?: object])[] = [
  ['GET', '/v1/organization/teamspaces/teamspace-harbor/users?limit=7'],
  ['POST', '/v1/pages', { name: 'Roof plan' }],
  ['POST', '/v1/batch-predictions', { prompt: 'p', output_schema, model: 'm', items }],
  ['POST', '/__emulator/clock/advance', { by: '2100ms' }],
  ['GET', '/v1/batch-predictions/{batch}'],
  ['POST', '/__emulator/clock/advance', { by: '40h' }],
  ['GET', '/v1/batch-predictions/{batch}'],
  ['GET', '/v1/batch-predictions/{batch}/results'],
  ['GET', `${REPORT}?start_date=2026-01-01&end_date=2026-01-01T13:00:00`],
  ['POST', '/v1/pages', { name: 5 }],
  ['GET', '/v1/nothing'],
  ['POST', '/v1/agents/generate', {}],
  ['POST', '/__emulator/provider-events', { source: 'construction_management', event: 'Inspection:failed' }],
]

/** The responses and the state file of a run in a time zone, on a data folder of its own. */
async function run(zone: string) {
  process.env.TZ = zone
  const data = dataFolder()
  // In the night of this start the clocks of many zones change.
  const { emulator } = await alive(data, { fixtures: 'demo', seed: 7, clock: '2026-03-29T00:30:00Z' })
  const transcript: string[] = []
  let id = ''
  for (const [method, path, body] of SCRIPT) {
    const response = await fetch(emulator.url + path.replace('{batch}', id), {
      method,
      headers: { authorization: 'Bearer live_demo_owner', 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = (await response.text()).replaceAll(emulator.url, '')
    if (path === '/v1/batch-predictions') id = JSON.parse(text).id
    transcript.push(`${method} ${path} ${response.status} ${JSON.stringify([...response.headers])} ${text}`)
  }
  await emulator.close()
  return { hour: new Date(0).getHours(), transcript, state: readFileSync(join(data, 'default.json'), 'utf8') }
}

test('the same requests give the same bytes in three time zones', { tags: ['R003', 'R296'] }, async () => {
  const { TZ } = process.env
  onTestFinished(() => {
    if (TZ === undefined) delete process.env.TZ
    else process.env.TZ = TZ
  })
  const { hour, ...first } = await run('UTC')
  expect(first.transcript.at(-1)).toContain('"thread_id"')
  for (const other of ['America/New_York', 'Asia/Kathmandu']) {
    const { hour: otherHour, ...rest } = await run(other)
    expect(otherHour).not.toBe(hour)
    expect(rest).toEqual(first)
  }
})
