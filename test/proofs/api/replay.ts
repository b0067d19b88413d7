import type { JsonObject } from '../../../src/core/json.ts'
import { Chance } from '../../../src/core/random.ts'
import { advanceTo } from '../../../src/core/time/run-events.ts'
import type { InternalOptions } from '../../../src/emulator/emulator.ts'
import type { RawResponse } from './connection.ts'
import { readDocument } from './document.ts'
import { type Generated, generate, learn } from './generate.ts'
import { apiInProcess, respondInProcess } from './in-process.ts'
import type { Sent } from './request-wire.ts'
import { busyCollections, proofEmulator } from './sandbox.ts'
import { Memory, type Source } from './valid.ts'

/** The port in Host headers: the same for every sandbox, so that responses do not differ by it. */
const PORT = 4010

export interface Exchange extends Generated {
  readonly response: RawResponse
}

export type Collections = Readonly<Record<string, readonly object[]>>

export interface Setting {
  readonly collections?: Collections
  readonly options?: InternalOptions
  readonly change?: (sent: Sent) => Sent
}

export async function record(
  requests: number,
  seed: number,
  setting: Setting = {},
): Promise<readonly Exchange[]> {
  const { emulator } = await sandboxOf(setting)
  try {
    const { sandbox } = emulator
    const response = await fetch(`${emulator.controlUrl}/openapi.json?api=workspace`)
    const document = readDocument(await response.json())
    const api = apiInProcess({ port: PORT, sandboxes: emulator.sandboxes })
    const source: Source = { sandbox, memory: new Memory(), chance: new Chance(seed, 'script') }
    const script: Exchange[] = []
    while (script.length < requests) {
      const next = generate(document, source, PORT)
      // Paths outside the API go through the server, and its port differs.
      if (!api.owns(next.sent.target)) continue
      advanceTo(sandbox, sandbox.clock.now + next.ms)
      const reply = await responseOf(api, next.sent)
      if (reply === 'closed') throw new Error('a request got no response')
      learn(source, next, reply.status, reply.text)
      script.push({ ...next, response: reply })
    }
    return script
  } finally {
    await emulator.close()
  }
}

// If a request has no valid Host, URLs in its response contain the real port, which differs between emulators.
async function responseOf(...asked: Parameters<typeof respondInProcess>) {
  const response = await respondInProcess(...asked)
  if (response === 'closed') return response
  return { ...response, text: response.text.replaceAll(/(?<=127\.0\.0\.1:)\d+/g, 'port') }
}

export function whole({ status, headers, text }: RawResponse): string {
  return JSON.stringify([status, [...headers], text])
}

/** Sends a script to another sandbox. @returns the responses, in order */
export async function replay(
  script: readonly Generated[],
  setting: Setting,
): Promise<readonly RawResponse[]> {
  const { emulator } = await sandboxOf(setting)
  const { change = (sent: Sent) => sent } = setting
  try {
    const { sandbox } = emulator
    const api = apiInProcess({ port: PORT, sandboxes: emulator.sandboxes })
    const responses: RawResponse[] = []
    for (const { ms, sent } of script) {
      advanceTo(sandbox, sandbox.clock.now + ms)
      const response = await responseOf(api, change(sent))
      if (response === 'closed') throw new Error('a request got no response')
      responses.push(response)
    }
    return responses
  } finally {
    await emulator.close()
  }
}

function sandboxOf({ collections = busyCollections(), options = {} }: Setting) {
  return proofEmulator({ ...options, fixtures: { collections } as unknown as JsonObject })
}
