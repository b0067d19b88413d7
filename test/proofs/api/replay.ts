import type { JsonObject } from '../../../src/core/json.ts'
import { Chance } from '../../../src/core/random.ts'
import { advanceTo } from '../../../src/core/time/run-events.ts'
import type { InternalOptions, RunningEmulator } from '../../../src/emulator/emulator.ts'
import { Connection, type RawResponse } from './connection.ts'
import { readDocument } from './document.ts'
import { type Generated, generate, learn } from './generate.ts'
import { type Sent, toBytes } from './request-wire.ts'
import { busyCollections, proofEmulator } from './sandbox.ts'
import { Memory, type Source } from './valid.ts'

export interface Exchange extends Generated {
  readonly response: RawResponse
}

export type Collections = Readonly<Record<string, readonly object[]>>

export interface Setting {
  readonly collections?: Collections
  readonly options?: InternalOptions
  readonly change?: (sent: Sent) => Sent
}

type Send = (ms: number, sent: Sent) => Promise<RawResponse>

/** Runs a part with an emulator that does not listen. Its `send` sends a request this much later, on a connection in memory. */
async function withSandbox<T>(
  { collections = busyCollections(), options, change = (sent) => sent }: Setting,
  part: (emulator: RunningEmulator, send: Send) => Promise<T>,
): Promise<T> {
  const fixtures = { collections } as unknown as JsonObject
  const { emulator } = await proofEmulator({
    ...options,
    listen: false,
    allowHosts: ['127.0.0.1:80'],
    fixtures,
  })
  const connection = new Connection(async () => (await emulator.connect('proof')).socket)
  const { sandbox } = emulator
  try {
    return await part(emulator, async (ms, sent) => {
      advanceTo(sandbox, sandbox.clock.now + ms)
      const response = await connection.exchange(toBytes(change(sent)), sent.method === 'HEAD')
      if (typeof response === 'string') throw new Error(`a request got no response: ${response}`)
      return response
    })
  } finally {
    connection.close()
    await emulator.close()
  }
}

export function record(requests: number, seed: number): Promise<readonly Exchange[]> {
  return withSandbox({}, async (emulator, send) => {
    const response = await emulator.fetch(`${emulator.controlUrl}/openapi.json?api=workspace`)
    const document = readDocument(await response.json())
    const { sandbox } = emulator
    const source: Source = { sandbox, memory: new Memory(), chance: new Chance(seed, 'script') }
    const script: Exchange[] = []
    while (script.length < requests) {
      const next = generate(document, source, 80)
      const response = await send(next.ms, next.sent)
      learn(source, next, response.status, response.text)
      script.push({ ...next, response })
    }
    return script
  })
}

export function whole({ status, headers, text }: RawResponse): string {
  return JSON.stringify([status, [...headers], text])
}

/** Sends a script to another sandbox. @returns the responses, in order */
export function replay(script: readonly Generated[], setting: Setting): Promise<readonly RawResponse[]> {
  return withSandbox(setting, async (_, send) => {
    const responses: RawResponse[] = []
    for (const { ms, sent } of script) responses.push(await send(ms, sent))
    return responses
  })
}
