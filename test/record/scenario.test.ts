import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { RecordedInput, RecordingBundle } from '../../src/core/record/bundle.ts'
import { aBatch, type SandboxClient, startEmulator } from '../../src/index.ts'
import { command, temporaryDirectory } from '../cli/in-process.ts'

/** What a session does; its recording has the default sandbox. */
type Session = (sandbox: SandboxClient) => Promise<unknown>

async function recorded(session: Session) {
  await using emulator = await startEmulator({ port: 0, ephemeral: true, seed: 7, rate: 0 })
  const sandbox = emulator.defaultSandbox
  await session(sandbox)
  const bundle = await sandbox.record()
  const file = join(temporaryDirectory(), 'failure.json')
  writeFileSync(file, JSON.stringify(bundle))
  return { bundle, file }
}

/** The scenario of a recording, in a folder of its own. */
async function written(file: string, ...flags: string[]) {
  const { code, out, err } = await command(['replay', file, '--to', 'scenario', ...flags])
  expect([code, err]).toEqual([0, ''])
  const folder = temporaryDirectory()
  writeFileSync(join(folder, 'recorded.ts'), out)
  return { folder, script: out }
}

/** Starts the scenario as its comment says, sends the recorded requests, and makes the calls that it leaves to its user. */
async function repeated({ inputs, state, emulator: { origin } }: RecordingBundle, scenarios: string) {
  const { seed, clock } = state
  const options = { fixtures: 'empty', seed, clock: clock.now, rate: 0, scenarios, scenario: 'recorded' }
  await using emulator = await startEmulator({ port: 0, ephemeral: true, ...options })
  const responses: unknown[] = []
  for (const input of inputs) {
    if ('control' in input && input.control.route === 'POST /clock/advance')
      await emulator.defaultSandbox.clock.advance(input.control.body as never)
    if (!('request' in input)) continue
    const [line = '', ...lines] = input.request.head.split('\n')
    const [method = '', target = ''] = line.split(' ')
    const headers = lines
      .map((each) => each.split(': ', 2) as [string, string])
      .filter(([name]) => !/^(host|connection|content-length|transfer-encoding)$/i.test(name))
    const init = { method, headers, body: (input.request.body as string | undefined) ?? null }
    responses.push(
      await fetch(`${emulator.url}${target}`, init).then(
        async (response) => [response.status, (await response.text()).replaceAll(emulator.url, origin)],
        () => 'no response',
      ),
    )
  }
  return responses
}

const responsesOf = ({ inputs }: RecordingBundle) =>
  inputs.flatMap((input: RecordedInput) => {
    if (!('request' in input)) return []
    const { head = '', text = '', sent } = input.output ?? {}
    return [
      sent === undefined || sent.end === 'whole' ? [Number(head.split('\n', 1)[0]), text] : 'no response',
    ]
  })

const SESSIONS: Readonly<Record<string, Session>> = {
  'faults before, between and after requests of one instant': async ({ faults, fetch, clock }) => {
    await faults.preset('rate-limited', { times: 1, match: { operation: 'pages.create' } })
    const create = (name: string) => fetch('/pages', { json: { name } }).catch(() => {})
    await create('first')
    await create('second')
    await fetch('/data-views')
    await faults.preset('server-error')
    await fetch('/data-views')
    await fetch('/data-views')
    await faults.clear()
    await fetch('/data-views')
    await faults.preset('rate-limited', { times: 1 })
    await fetch('/data-views')
    await fetch('/data-views')
    await clock.advance('1h')
    await faults.preset('lost-response-after-commit', { match: { operation: 'pages.create' } })
    await create('third')
    await faults.arm({
      match: { operation: 'data-views.list' },
      when: { nth: 2 },
      do: [{ respond: { status: 418 } }],
    })
    for (let n = 0; n < 3; n++) await fetch('/data-views')
  },
  'batches, webhooks and records': async ({ batches, clock, fetch, state, webhooks }) => {
    await webhooks.create({ inbox: true, secret: 'the-secret-of-the-user' })
    const created = await fetch('/batch-predictions', { json: aBatch() })
    const { id } = (await created.json()) as { id: string }
    const other = (await (await fetch('/batch-predictions', { json: aBatch() })).json()) as { id: string }
    await clock.advance('1s')
    await batches.fail(id, { detail: 'The model is gone.' })
    await state.put('pages', {
      ...((await state.list('pages'))[0] as { id: string }),
      name: 'Another name',
    })
    await fetch(`/batch-predictions/${id}`)
    await clock.advance('1h')
    await fetch(`/batch-predictions/${other.id}`)
    await fetch(`/batch-predictions/${other.id}/results`)
    await fetch('/organization/teamspaces/teamspace-harbor/users')
  },
}

test.for(Object.entries(SESSIONS))(
  'the scenario of a recording gives the same responses: %s',
  async ([, session]) => {
    const { bundle, file } = await recorded(session)
    const { folder } = await written(file)
    expect(await repeated(bundle, folder)).toEqual(responsesOf(bundle))
  },
)

test('the comment of the scenario has the command, the keys, and what was recorded after the start', async () => {
  const { file } = await recorded(async ({ clock, fetch, settings, webhooks }) => {
    await fetch('/pages', { json: { name: 'first' } })
    await webhooks.create({ inbox: true })
    await fetch('/data-views')
    await clock.advance('1h')
    await webhooks.create({ inbox: true })
    await settings.change({ 'batch.unknown_files': 'accept' })
  })
  const comments = (script: string) => script.split('\n').filter((line) => line.startsWith('//'))
  const { script } = await written(file)
  expect(comments(script).slice(1)).toEqual([
    expect.stringMatching(
      /^\/\/ {3}npx workspace-emulator --ephemeral --fixtures empty --seed 7 --clock \S+Z --scenario recorded$/,
    ),
    expect.stringMatching(/^\/\/ Keys are placeholders\. Send live_secret-\S+, or start with --auth any\.$/),
    expect.stringContaining('Your client sends the requests'),
    expect.stringContaining('Make the others yourself.'),
    '//   0ms  POST /v1/pages  200',
    '//   0ms  POST /webhooks {"inbox":true}',
    '//   0ms  GET /v1/data-views  200',
    '//   0ms  POST /clock/advance {"by":"1h"}',
    '//   1h  POST /webhooks {"inbox":true}  timeline',
    '//   1h  PATCH /settings {"batch.unknown_files":"accept"}',
  ])
  const later = await written(file, '--until', '3')
  expect(comments(later.script).slice(3)).toEqual([
    '// A scenario cannot contain: 2 rate windows.',
    expect.any(String),
    expect.any(String),
    '//   0ms  POST /clock/advance {"by":"1h"}',
    '//   1h  POST /webhooks {"inbox":true}  timeline',
    '//   1h  PATCH /settings {"batch.unknown_files":"accept"}',
  ])
  expect(later.script).toContain('"name":"first"')
})

test('values of a recording do not end the comment of the scenario', async () => {
  const { bundle, file } = await recorded(({ fetch }) => fetch('/data-views'))
  const times = { at: bundle.state.clock.now, wall: bundle.wall }
  const control = { route: 'POST /scenarios/{name}/start', params: { name: 'x\nthrow new Error(1)\u2028y' } }
  const output = { head: '200', bytes: 2, crc32: 0, text: '{}' }
  writeFileSync(
    file,
    JSON.stringify({ ...bundle, inputs: [...bundle.inputs, { ...times, control, output }] }),
  )
  const { script } = await written(file)
  expect(script).toContain('//   0ms  POST /scenarios/{name}/start x throw new Error(1) y\n')
})
