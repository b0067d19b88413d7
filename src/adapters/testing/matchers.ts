import type { ConductOptions, RequestMatch, SandboxClient } from '../../index.ts'
import { behaved } from './behaved.ts'
import { type DeliveryMatch, delivered } from './delivered.ts'
import { firedAllFaults } from './fired-faults.ts'
import type { ExpectedCount, MatcherResult } from './matcher-result.ts'
import { received } from './received.ts'
import { respectedRetryAfter } from './retry-after.ts'

/** Matchers on a {@link Sandbox}, for `expect.extend` of any test runner that has it. */
export const matchers = {
  toHaveReceived: (
    sandbox: SandboxClient,
    match: RequestMatch,
    count?: ExpectedCount,
  ): Promise<MatcherResult> => received(asSandbox(sandbox), match, count),
  toHaveDelivered: (
    sandbox: SandboxClient,
    match?: DeliveryMatch,
    count?: ExpectedCount,
  ): Promise<MatcherResult> => delivered(asSandbox(sandbox), match, count),
  toHaveRespectedRetryAfter: (sandbox: SandboxClient, match?: RequestMatch): Promise<MatcherResult> =>
    respectedRetryAfter(asSandbox(sandbox), match),
  toHaveBehaved: (sandbox: SandboxClient, options?: ConductOptions): Promise<MatcherResult> =>
    behaved(asSandbox(sandbox), options),
  toHaveFiredAllFaults: (sandbox: SandboxClient): Promise<MatcherResult> =>
    firedAllFaults(asSandbox(sandbox)),
}

// A test in plain JavaScript has no types that would catch this.
function asSandbox(value: unknown): SandboxClient {
  if (typeof value === 'object' && value !== null && 'requests' in value && 'webhooks' in value)
    return value as SandboxClient
  throw new TypeError(
    `This matcher is for a sandbox: expect(sandbox), where sandbox is the fixture or the result of emulator.sandbox(). The value is ${value === null ? 'null' : `of the type ${typeof value}`}.`,
  )
}
