import { request } from 'node:http'
import { KEY } from '../../bench/servers.ts'
import { creationOf, crowdedWith, nestedTo } from '../../support/large-bodies.ts'
import { below, type Figure, none, type Proof, type Scale, tried } from '../proof.ts'
import { pause, Stage } from '../stage.ts'
import { timing } from '../timing.ts'
import { type Probed, startProbed } from './probe.ts'

const MIB = 1024 * 1024

interface Plan {
  /** Bytes of a valid large body. */
  readonly large: number
  /** Items of a body that has too many tokens. */
  readonly items: number
  /** Bytes of each of eight simultaneous bodies; more than 8 MiB, since such bodies are read one at a time. */
  readonly atOnce: number
}

const PLANS: Readonly<Record<Scale, Plan>> = {
  short: { large: 5 * MIB, items: 500_000, atOnce: 9 * MIB },
  long: { large: 100 * MIB, items: 30_000_000, atOnce: 100 * MIB },
}

const AT_ONCE = 8
/** Bytes of a body that occupies the only place for large ones: more than 8 MiB are sent, and the rest is held back. */
const HELD = 12 * MIB
const HELD_BACK = 2 * MIB
/** Milliseconds after which a stalled body loses its place, and the permitted delay. */
const PATIENCE = 2_000
const LATE = 2_000

/** The reason in refusals of bodies that are never parsed. */
const REASON = /nests more than \d+ levels|has more than \d+ tokens/

/** The response to a body. Times in milliseconds. */
interface ApiResponse {
  readonly status: number
  readonly text: string
  /** From the start of the connection. */
  readonly total: number
  /** From the moment when the last byte left this process. */
  readonly afterwards: number
}

/** An upload in progress. `end` sends the rest. */
interface Upload {
  readonly response: Promise<ApiResponse>
  end(): void
}

function upload({ port }: Probed, body: Buffer, heldBack = 0, path = '/v1/batch-predictions'): Upload {
  const begun = performance.now()
  const headers = {
    authorization: `Bearer ${KEY}`,
    'content-type': 'application/json',
    'content-length': String(body.length),
  }
  const req = request({ host: '127.0.0.1', port, method: 'POST', path, headers, agent: false })
  let sent = begun
  req.on('finish', () => {
    sent = performance.now()
  })
  const response = new Promise<ApiResponse>((resolve, reject) => {
    req.on('error', reject)
    req.on('response', (res) => {
      let text = ''
      res.setEncoding('utf8').on('data', (chunk) => {
        text += chunk
      })
      res.on('end', () => {
        const now = performance.now()
        // A response may arrive before the last byte is sent.
        const afterwards = sent === begun ? 0 : now - sent
        resolve({ status: res.statusCode ?? 0, text, total: now - begun, afterwards })
      })
    })
  })
  req.write(body.subarray(0, body.length - heldBack))
  const end = () => void req.end(heldBack === 0 ? undefined : body.subarray(body.length - heldBack))
  if (heldBack === 0) end()
  return { response, end }
}

const send = (probed: Probed, body: Buffer) => upload(probed, body).response

/** Sends a large body to the control interface, which refuses it because of its content. */
const sendControl = (probed: Probed, bytes: number) =>
  upload(probed, Buffer.from(JSON.stringify({ unknown: 'x'.repeat(bytes) })), 0, '/__emulator/fixtures')
    .response
const ms = (value: number) => Math.round(value)

async function legitimate(probed: Probed, scale: Scale, { large }: Plan): Promise<readonly Figure[]> {
  const body = creationOf(large)
  await probed.look()
  const { status, total } = await send(probed, body)
  const { loop } = await probed.look()
  const size = `${large / MIB} MiB`
  return [
    none(`${size} not accepted`, status === 200 ? 0 : 1),
    timing(scale, below(`${size} accepted in`, ms(total), 2_000, 'ms')),
    timing(scale, below(`stall by ${size}`, ms(loop.longest), 300, 'ms')),
  ]
}

async function refused(probed: Probed, scale: Scale, { items, large }: Plan): Promise<readonly Figure[]> {
  const figures: Figure[] = []
  const levels = 50_000
  for (const [what, body] of [
    [`${items * 3} tokens`, crowdedWith(items)],
    [`${levels} levels`, nestedTo(levels)],
    [`${levels} levels after ${large / MIB} MiB`, nestedTo(levels, large - 12 * levels)],
  ] as const) {
    await probed.look()
    const { status, text, afterwards } = await send(probed, body)
    const { loop } = await probed.look()
    figures.push(
      none(`${what} not refused for that`, status === 400 && REASON.test(text) ? 0 : 1),
      timing(scale, below(`${what} refused after`, ms(afterwards), 250, 'ms')),
      timing(scale, below(`stall by ${what}`, ms(loop.longest), 300, 'ms')),
    )
  }
  return figures
}

/** While one large body is being read, other large bodies wait, and all other requests are served. */
async function oneByOne(probed: Probed, scale: Scale): Promise<readonly Figure[]> {
  const first = upload(probed, creationOf(HELD), HELD_BACK)
  await pause(200)
  let answered = false
  const second = upload(probed, creationOf(HELD))
  const done = second.response.then((response) => {
    answered = true
    return response
  })
  const small = await send(probed, creationOf(1_000))
  await pause(300)
  const early = answered ? 1 : 0
  first.end()
  const [one, two] = await Promise.all([first.response, done])
  return [
    none('large bodies read during another', early),
    // On a busy machine, the rest may arrive too late.
    timing(
      scale,
      none('lost after another', [one, two, small].filter(({ status }) => status !== 200).length),
    ),
  ]
}

/** Stalled bodies delay other bodies only briefly, both on the API and on the control interface. */
async function stalled(probed: Probed, scale: Scale): Promise<readonly Figure[]> {
  const figures: Figure[] = []
  const whole = creationOf(HELD)
  for (const [what, sent, bound] of [
    ['3 bytes', 3, 1_000],
    [`${(HELD - HELD_BACK) / MIB} MiB`, HELD - HELD_BACK, PATIENCE + LATE],
  ] as const) {
    const first = upload(probed, whole, whole.length - sent)
    // The connection may be cut when the proof is over.
    first.response.catch(() => {})
    await pause(200)
    const others = await Promise.all([send(probed, whole), sendControl(probed, HELD)])
    figures.push(
      none(
        `without a response during one that stalls after ${what}`,
        others.filter(({ status }) => status >= 500).length,
      ),
      timing(
        scale,
        below(`slowest during it`, ms(Math.max(...others.map(({ total }) => total))), bound, 'ms'),
      ),
    )
    first.end()
    const { status } = await first.response
    figures.push(none(`${what}: neither accepted nor refused with 408`, [200, 408].includes(status) ? 0 : 1))
  }
  return figures
}

async function atOnce(probed: Probed, scale: Scale, plan: Plan): Promise<readonly Figure[]> {
  const body = creationOf(plan.atOnce)
  const responses = await Promise.all(Array.from({ length: AT_ONCE }, () => send(probed, body)))
  return [
    tried('bodies at once', `${AT_ONCE} of ${plan.atOnce / MIB} MiB`),
    none('of them not accepted', responses.filter(({ status }) => status !== 200).length),
    timing(scale, below('most resident memory', ms(probed.resident().most), 1_024, 'MiB')),
  ]
}

async function run(scale: Scale, say: (line: string) => void): Promise<readonly Figure[]> {
  await using stage = new Stage()
  const probed = await startProbed(stage)
  const plan = PLANS[scale]
  const figures: Figure[] = []
  for (const part of [legitimate, refused, oneByOne, stalled, atOnce]) {
    figures.push(...(await part(probed, scale, plan)))
    say(`${part.name}: ${ms(probed.resident().now)} MiB resident`)
  }
  const { code } = await probed.started.stop()
  return [...figures, none('exit code', code ?? -1)]
}

export const s2: Proof = {
  id: 'S2',
  promise:
    'Large bodies are accepted one at a time and within bounds of time and memory, and malicious ones are refused at once.',
  run,
}
