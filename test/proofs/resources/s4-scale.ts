import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { benchFixtures } from '../../bench/servers.ts'
import { Client } from '../client.ts'
import { below, type Figure, none, type Proof, type Scale, tried } from '../proof.ts'
import { Stage, type Started } from '../stage.ts'
import { timing } from '../timing.ts'

const SIZES = {
  short: { sandboxes: 30, records: 3_000 },
  long: { sandboxes: 1_000, records: 500_000 },
}

/** Maximum milliseconds until the first response, and of a stop or a reset. */
const READY = 1_000
const DONE = 2_000

/** Records in one request: the control interface limits the size of a request. */
const AT_ONCE = 100_000

type Say = (line: string) => void

/** S4: many sandboxes on disk, and one with many records. */
export const s4: Proof = {
  id: 'S4',
  promise:
    'Start, exit and reset are fast with many sandboxes on the disk and many records in a sandbox, and no record is lost.',
  run: async (scale, say) => {
    await using stage = new Stage()
    return [...(await manySandboxes(stage, scale, say)), ...(await manyRecords(stage, scale, say))]
  },
}

async function manySandboxes(stage: Stage, scale: Scale, say: Say): Promise<Figure[]> {
  const data = join(stage.folder, 'many')
  const names = Array.from({ length: SIZES[scale].sandboxes }, (_, n) => `s-${n}`)
  const first = await started(stage, data)
  for (const name of names) await first.client.post('/__emulator/sandboxes', { name, persist: true })
  await stopped(first)
  const before = inodes(data)
  say(`S4: ${names.length} sandboxes are on the disk`)

  const second = await started(stage, data)
  const opened = await countOpen(second.client)
  const untouched = await stopped(second)
  const written = inodes(data).filter((inode, n) => inode !== before[n]).length

  const third = await started(stage, data)
  const pages = new Map<string, string>()
  for (const name of names) pages.set(name, (await third.client.post(`/@${name}/v1/pages`, { name })).id)
  say('S4: all of them have been written to')
  const changed = await stopped(third)

  const fourth = await started(stage, data)
  let lost = 0
  for (const [name, id] of pages) if (!(await fourth.client.ids('pages', `/@${name}`)).includes(id)) lost += 1
  await stopped(fourth)
  return [
    tried('persisted sandboxes', names.length),
    none('of them opened before their first request', opened - 1),
    timing(scale, below('until the first response', Math.round(second.ready), READY, 'ms')),
    none('state files written by an exit without changes', written),
    timing(scale, below('from SIGTERM to that exit', untouched, DONE, 'ms')),
    timing(scale, below('from SIGTERM to the exit after a write to each', changed, DONE, 'ms')),
    none('acknowledged writes lost', lost),
  ]
}

async function manyRecords(stage: Stage, scale: Scale, say: Say): Promise<Figure[]> {
  const data = join(stage.folder, 'large')
  const { records } = SIZES[scale]
  const first = await started(stage, data)
  const { pages } = (JSON.parse(benchFixtures(records)) as { collections: { pages: object[] } }).collections
  for (let from = 0; from < records; from += AT_ONCE) {
    const some = pages.slice(from, from + AT_ONCE)
    await first.client.post('/__emulator/fixtures', { collections: { pages: some } })
  }
  say(`S4: a sandbox has ${records} records`)
  const filled = await stopped(first)

  const second = await started(stage, data)
  const { id } = await second.client.post('/v1/pages', { name: 'one more' })
  const exit = await stopped(second)

  const third = await started(stage, data)
  const kept = await third.client.ids('pages')
  const lost = records + 1 - kept.length + (kept.includes(id) ? 0 : 1)
  const meanwhile = watch(third.client)
  const begun = performance.now()
  await third.client.post('/__emulator/reset')
  const reset = Math.round(performance.now() - begun)
  const longest = await meanwhile.stop()
  const { id: later } = await third.client.post('/v1/pages', { name: 'after the reset' })
  say(`S4: it has been reset in ${reset} ms`)
  third.client.close()
  third.server.kill()
  await third.server.ended

  const fourth = await started(stage, data)
  const left = await fourth.client.ids('pages')
  await stopped(fourth)
  return [
    tried('records of one sandbox', records),
    timing(scale, below('from SIGTERM to the exit after their creation', filled, DONE, 'ms')),
    timing(scale, below('from SIGTERM to the exit after one more', exit, DONE, 'ms')),
    none('records lost by that', lost),
    timing(scale, below('a reset of them', reset, DONE, 'ms')),
    tried('longest wait of another request during it', `${longest} ms`),
    none('records restored or lost by a reset and a kill', left.join() === later ? 0 : 1),
  ]
}

/** A process, its client, and the milliseconds until it was ready. */
interface Life {
  readonly server: Started
  readonly client: Client
  readonly ready: number
}

async function started(stage: Stage, data: string): Promise<Life> {
  const server = stage.start({ data })
  const port = await server.port
  return { server, client: new Client(port), ready: performance.now() - server.startedAt }
}

/** Stops the process with SIGTERM. @returns the milliseconds until its end */
async function stopped({ server, client }: Life): Promise<number> {
  client.close()
  const begun = performance.now()
  const { at, code } = await server.stop()
  if (code !== 0) throw new Error(`the exit code is ${code}: ${server.errors}`)
  return Math.round(at - begun)
}

async function countOpen(client: Client): Promise<number> {
  const { data } = (await client.get('/__emulator/sandboxes')) as { data: { state: string }[] }
  return data.filter(({ state }) => state === 'open').length
}

/** The inodes of the state files of all sandboxes: each checkpoint creates a new file. */
function inodes(data: string): number[] {
  const folder = join(data, 'sandboxes')
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'))
  return files.sort().map((name) => statSync(join(folder, name)).ino)
}

/** Sends small requests one after the other until it is stopped. @returns a function that stops and returns the slowest in ms */
function watch(client: Client) {
  let isStopped = false
  let longest = 0
  const watching = (async () => {
    while (!isStopped) {
      const begun = performance.now()
      await client.get('/v1/data-views?limit=1')
      longest = Math.max(longest, performance.now() - begun)
    }
  })()
  return {
    stop: async (): Promise<number> => {
      isStopped = true
      await watching
      return Math.round(longest)
    },
  }
}
