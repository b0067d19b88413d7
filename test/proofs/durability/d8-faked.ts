import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Chance } from '../../../src/core/random.ts'
import { openEmulator, type RunningEmulator } from '../../../src/emulator.ts'
import { benchFixtures } from '../../bench/servers.ts'
import { type FakeProcess, Machines } from '../../support/lock-processes.ts'
import { Client, Refused } from '../client.ts'
import type { Tally } from './d8-one-writer.ts'

/** Steps in each round. */
const STEPS = 12

/** An emulator that appears to run in a separate place (container or host). */
interface Member {
  readonly process: FakeProcess
  readonly emulator: RunningEmulator
  readonly client: Client
}

/**
 * Emulators in this process that see each other as processes of other containers, on one folder, with one clock that the proof
 * moves. At random they write, send heartbeats or are silent, and new ones start. An emulator may acknowledge only writes that
 * the next one finds.
 */
export async function fakedPlaces(round: number, tally: Tally): Promise<void> {
  const chance = new Chance(8, 'places', round)
  const folder = mkdtempSync(join(tmpdir(), 'workspace-proof-'))
  const machines = new Machines()
  const members: Member[] = []
  try {
    await start(folder, machines, members, tally)
    for (let step = 0; step < STEPS; step++) {
      const someone = members[chance.int(0, members.length - 1)] as Member
      const deed = chance.int(0, 3)
      if (deed === 0) await machines.pass(chance.int(1, 30) * 250)
      else if (deed === 1) someone.process.beat()
      else if (deed === 2) await start(folder, machines, members, tally)
      else await write(someone, members, tally)
    }
    for (const each of [...members].reverse()) await write(each, members, tally)
    for (const { client, emulator } of members) {
      client.close()
      await emulator.close()
    }
    members.length = 0
    await start(folder, machines, members, tally)
    tally.compare(await (members[0] as Member).client.ids('pages'))
  } finally {
    for (const { client, emulator } of members) {
      client.close()
      await emulator.close()
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Starts one more emulator, which may be refused; the clock moves until this is decided. */
async function start(folder: string, machines: Machines, members: Member[], tally: Tally): Promise<void> {
  const process = machines.process(`place-${members.length}`)
  let isOver = false
  const starting = openEmulator({
    port: 0,
    rate: 0,
    limits: false,
    clock: '2026-03-01T12:00:00Z',
    fixtures: JSON.parse(benchFixtures(0)),
    data: join(folder, 'data'),
    lockPorts: process.ports,
  })
    .catch((error: Error) => error)
    .finally(() => {
      isOver = true
    })
  while (!isOver) await machines.pass(250)
  const emulator = await starting
  if (emulator instanceof Error) {
    if (!emulator.message.includes('is in use by')) throw emulator
    return
  }
  if (members.length > 0) tally.takenOver += 1
  members.push({ process, emulator, client: new Client(emulator.port) })
}

/** Writes to one of them; only the last one that started may acknowledge the write. */
async function write(member: Member, members: readonly Member[], tally: Tally): Promise<void> {
  for (let n = 0; n < 5; n++) {
    try {
      tally.acknowledge((await member.client.post('/v1/pages', { name: `${n}` })).id)
      if (member !== members.at(-1)) tally.late += 1
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      if (member === members.at(-1)) tally.wrong += 1
      else tally.refused += 1
    }
  }
}
