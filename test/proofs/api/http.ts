import { Chance } from '../../../src/core/random.ts'
import { advanceTo } from '../../../src/core/time/run-events.ts'
import { KEYS } from '../../support/base-state.ts'
import { Connection } from './connection.ts'
import { gap } from './gaps.ts'
import { ReferenceWindow } from './reference.ts'
import { proofEmulator } from './sandbox.ts'

interface Rule {
  readonly operation: string
  readonly path: string
  readonly limit: number
  readonly window: number
}

const RULES: readonly [Rule, ...Rule[]] = [
  { operation: 'data-views.list', path: '/data-views', limit: 3, window: 60_000 },
  { operation: 'mcp-servers.list', path: '/organization/mcp-servers', limit: 5, window: 10_000 },
  { operation: 'agents.list', path: '/agents', limit: 1, window: 30_000 },
]

const ARRIVALS = 40

/** Sends requests over HTTP while the clock moves, and compares the headers of every response with the reference. */
export async function overHttp(patterns: number, seed: number, say: (line: string) => void) {
  const overrides = RULES.map(({ operation, limit, window }) => ({
    operation,
    limit,
    window_s: window / 1000,
  }))
  const { emulator } = await proofEmulator({ settings: { 'limits.overrides': overrides } })
  const { sandbox, port } = emulator
  const connection = new Connection(port)
  const start = sandbox.capture()
  const tally = { requests: 0, refused: 0, differences: 0 }
  try {
    for (let n = 0; n < patterns; n++) {
      const chance = new Chance(seed, 'http', n)
      const rule = chance.pick(RULES)
      const reference = new ReferenceWindow(rule.limit, rule.window)
      sandbox.replaceWith(start)
      advanceTo(sandbox, sandbox.clock.now + chance.int(0, 99_999))
      for (let arrival = 0; arrival < ARRIVALS; arrival++) {
        const { now } = sandbox.clock
        const head = `GET /v1${rule.path} HTTP/1.1\r\nHost: localhost:${port}\r\nAuthorization: Bearer ${KEYS.KU}\r\n\r\n`
        const response = await connection.exchange(Buffer.from(head))
        const { admitted, remaining, reset, retryAfter } = reference.ask(now)
        const wanted = [admitted ? 200 : 429, rule.limit, remaining, reset, retryAfter].join(' ')
        const told =
          typeof response === 'string'
            ? response
            : [response.status, ...HEADERS.map((name) => response.headers.get(name))].join(' ')
        tally.requests += 1
        if (!admitted) tally.refused += 1
        if (told !== wanted) {
          tally.differences += 1
          say(
            `F4: seed ${seed}, HTTP pattern ${n}, arrival ${arrival}: ${told}, the reference says ${wanted}`,
          )
        }
        advanceTo(sandbox, now + gap(chance, rule, retryAfter))
      }
    }
    return tally
  } finally {
    connection.close()
    await emulator.close()
  }
}

const HEADERS = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'retry-after']
