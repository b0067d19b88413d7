import type { SandboxClient } from '../index.ts'
import { behaved } from './behaved.ts'
import { delivered } from './delivered.ts'
import { firedAllFaults } from './fired-faults.ts'
import type { MatcherResult } from './matcher-result.ts'
import { received } from './received.ts'
import { respectedRetryAfter } from './retry-after.ts'

const onSandbox =
  <Rest extends unknown[]>(matcher: (sandbox: SandboxClient, ...rest: Rest) => Promise<MatcherResult>) =>
  (sandbox: SandboxClient, ...rest: Rest): Promise<MatcherResult> =>
    matcher(asSandbox(sandbox), ...rest)

/** Matchers on a {@link SandboxClient}, for `expect.extend` of any test runner that has it. */
export const matchers = {
  toHaveReceived: onSandbox(received),
  toHaveDelivered: onSandbox(delivered),
  toHaveRespectedRetryAfter: onSandbox(respectedRetryAfter),
  toHaveBehaved: onSandbox(behaved),
  toHaveFiredAllFaults: onSandbox(firedAllFaults),
}

// A test in plain JavaScript has no types that would catch this.
function asSandbox(value: unknown): SandboxClient {
  if (typeof value === 'object' && value !== null && 'requests' in value && 'webhooks' in value)
    return value as SandboxClient
  throw new TypeError(
    `This matcher is for a sandbox: expect(sandbox), where sandbox is the fixture or the result of emulator.sandbox(). The value is ${value === null ? 'null' : `of the type ${typeof value}`}.`,
  )
}
