import type { RequestMatch, World } from '../../index.ts'
import { type DeliveryMatch, delivered } from './delivered.ts'
import type { ExpectedCount, MatcherResult } from './matcher-result.ts'
import { received } from './received.ts'
import { respectedRetryAfter } from './retry-after.ts'

/** Matchers on a {@link World}, for `expect.extend` of any test runner that has it. */
export const matchers = {
  toHaveReceived: (world: World, match: RequestMatch, count?: ExpectedCount): Promise<MatcherResult> =>
    received(asWorld(world), match, count),
  toHaveDelivered: (world: World, match?: DeliveryMatch, count?: ExpectedCount): Promise<MatcherResult> =>
    delivered(asWorld(world), match, count),
  toHaveRespectedRetryAfter: (world: World, match?: RequestMatch): Promise<MatcherResult> =>
    respectedRetryAfter(asWorld(world), match),
}

// A test in plain JavaScript has no types that would say so.
function asWorld(value: unknown): World {
  if (typeof value === 'object' && value !== null && 'requests' in value && 'webhooks' in value)
    return value as World
  throw new TypeError(
    `This matcher is about a world: expect(world), where world is the fixture or what emulator.sandbox() gives. It was given ${value === null ? 'null' : typeof value}.`,
  )
}
