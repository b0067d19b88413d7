import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { Chance } from '../../src/core/random.ts'
import { Client, Refused } from '../proofs/client.ts'
import { pause, Stage, type Started } from '../proofs/stage.ts'
import { batchBody, sampleRecords } from '../support/sample-calls.ts'

/** The result of some rounds of kills. All fields except the first two must be 0. */
export interface KillReport {
  readonly rounds: number
  readonly acknowledged: number
  readonly lost: number
  /** Idempotency keys that created a second batch after a restart, and agents that were claimed twice. */
  readonly doubled: number
  /** Batches that were acknowledged as terminal, but for which no webhook arrived. */
  readonly untold: number
  readonly unrestorable: number
  readonly unreadable: number
  readonly refused: number
}

/** All acknowledged writes. Ids are unique only within a sandbox, so each is stored with its path prefix. */
interface Acknowledged {
  readonly pages: Set<string>
  /** The batch that was created under each idempotency key. */
  readonly batches: Map<string, string>
  readonly claims: Set<string>
  readonly terminal: Set<string>
  readonly snapshots: Set<string>
  refused: number
}

/** Two clients write to the default sandbox, two to another persistent one. */
const PREFIXES = ['', '', '/@kept', '/@kept']
const SANDBOXES = [...new Set(PREFIXES)]
const BODY = batchBody(1)
const [TEMPLATE] = sampleRecords.agent_templates ?? []

/**
 * Starts the built emulator on one data directory, lets clients write, kills it with SIGKILL at a random moment, starts it
 * again, and checks every acknowledged write.
 * @param rounds the number of kills; each takes about half a second, more as the sandbox grows
 */
export async function killRounds(rounds: number, seed = 1): Promise<KillReport> {
  const chance = new Chance(seed, 'kill')
  await using stage = new Stage()
  const told = new Set<string>()
  await using receiver = await receiverOf(told)
  await prepare(stage, receiver.url)
  const known: Acknowledged = {
    pages: new Set(),
    batches: new Map(),
    claims: new Set(),
    terminal: new Set(),
    snapshots: new Set(),
    refused: 0,
  }
  let unreadable = 0
  for (let round = 0; round < rounds; round++) {
    const server = stage.start()
    const port = await server.port
    const writing = Promise.all(PREFIXES.map((prefix, n) => write(port, prefix, `${round}-${n}`, known)))
    // Counted from the first acknowledgement: a busy machine may need longer for it than the longest pause.
    const before = countOf(known)
    while (countOf(known) === before && known.refused === 0) await pause(1)
    await pause(chance.int(0, 150))
    server.kill()
    await writing
    await server.ended
    if (saysUnreadable(server)) unreadable += 1
  }
  const last = stage.start()
  const found = await compare(await last.port, known, told)
  if (saysUnreadable(last)) unreadable += 1
  await last.stop()
  return { rounds, acknowledged: countOf(known), ...found, unreadable, refused: known.refused }
}

function countOf({ pages, batches, claims, terminal }: Acknowledged): number {
  return pages.size + batches.size + claims.size + terminal.size
}

/** Receives webhooks, and notes their result URLs, each of which identifies a batch. */
async function receiverOf(told: Set<string>) {
  const server = createServer(async (req, res) => {
    // The sender may be killed during the request.
    const body = (await json(req).catch(() => ({}))) as { results_url?: string }
    if (body.results_url !== undefined) told.add(body.results_url)
    res.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, [Symbol.asyncDispose]: close }
}

async function prepare(stage: Stage, url: string): Promise<void> {
  const server = stage.start()
  const port = await server.port
  const client = new Client(port)
  await client.post('/__emulator/sandboxes', { name: 'kept', persist: true })
  for (const prefix of SANDBOXES) await client.post(`${prefix}/__emulator/webhooks`, { url })
  client.close()
  await server.stop()
}

async function write(port: number, prefix: string, name: string, known: Acknowledged): Promise<void> {
  const client = new Client(port)
  try {
    for (let n = 0; ; n++) await writeOne(client, prefix, `${name}-${n}`, n % 20, known)
  } catch (error) {
    // Any other error means that the server has ended: writes in flight were not acknowledged.
    if (error instanceof Refused) known.refused += 1
  } finally {
    client.close()
  }
}

async function writeOne(client: Client, prefix: string, name: string, turn: number, known: Acknowledged) {
  if (turn === 19) {
    // Only twenty names, so that existing files are replaced as well.
    const snapshot = `s-${known.snapshots.size % 20}`
    await client.post(`${prefix}/__emulator/snapshots`, { name: snapshot })
    known.snapshots.add(`${prefix}/__emulator/snapshots/${snapshot}`)
  } else if (turn === 13) {
    await client.put(`${prefix}/__emulator/state/agent_templates/${name}`, {
      ...TEMPLATE,
      id: name,
      claim_token: name,
    })
    await client.post(`${prefix}/v1/agents/claim`, { claim_token: name })
    known.claims.add(`${prefix} ${name}`)
  } else if (turn % 10 === 8) {
    const { id } = await client.post(`${prefix}/v1/batch-predictions`, BODY, { 'idempotency-key': name })
    known.batches.set(`${prefix} ${name}`, id)
    await client.post(`${prefix}/__emulator/batches/${id}/complete`)
    known.terminal.add(`${prefix}/v1/batch-predictions/${id}/results`)
  } else {
    const { id } = await client.post(`${prefix}/v1/pages`, { name })
    known.pages.add(`${prefix} ${id}`)
  }
}

/** Checks all acknowledged writes after the last webhook has been sent. */
async function compare(port: number, known: Acknowledged, told: ReadonlySet<string>) {
  const client = new Client(port)
  const there = new Set<string>()
  for (const prefix of SANDBOXES) {
    await client.post(`${prefix}/__emulator/clock/advance`, { by: '0s' })
    for (const id of await client.ids('pages', prefix)) there.add(`${prefix} ${id}`)
  }
  const doubled = (await batchesAgain(client, known)) + (await claimsAgain(client, known))
  let unrestorable = 0
  for (const path of known.snapshots) {
    await client.post(`${path}/restore`).catch(() => {
      unrestorable += 1
    })
  }
  client.close()
  return {
    lost: [...known.pages].filter((page) => !there.has(page)).length,
    doubled,
    untold: [...known.terminal].filter((results) => !told.has(results)).length,
    unrestorable,
  }
}

async function batchesAgain(client: Client, { batches }: Acknowledged): Promise<number> {
  let doubled = 0
  for (const [name, id] of batches) {
    const [prefix = '', key = ''] = name.split(' ')
    const again = await client.post(`${prefix}/v1/batch-predictions`, BODY, { 'idempotency-key': key })
    if (again.id !== id) doubled += 1
  }
  return doubled
}

async function claimsAgain(client: Client, { claims }: Acknowledged): Promise<number> {
  let doubled = 0
  for (const name of claims) {
    const [prefix = '', claim_token = ''] = name.split(' ')
    const claimed = client.post(`${prefix}/v1/agents/claim`, { claim_token }).then(
      () => true,
      () => false,
    )
    if (await claimed) doubled += 1
  }
  return doubled
}

function saysUnreadable({ errors }: Started): boolean {
  return /Nothing has been changed|orphan/i.test(errors)
}
