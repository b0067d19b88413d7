import { changeFamily } from './change.ts'
import { connectionFamily, responseFamily } from './connection.ts'
import { faultFamily } from './fault.ts'
import { keyFamily, repeatFamily } from './key.ts'
import { pageFamily } from './page.ts'
import { pollFamily } from './poll.ts'
import { refusalFamily } from './refusal.ts'
import { requestFamily } from './request.ts'
import { resultFamily } from './result.ts'
import { retryFamily } from './retry.ts'
import type { ConductVerdict, Family } from './verdict.ts'
import { waitFamily } from './wait.ts'
import { effectFamily, receiverFamily } from './webhook.ts'

export const families: readonly Family[] = [
  ...[waitFamily, retryFamily, refusalFamily, repeatFamily, keyFamily, changeFamily],
  ...[connectionFamily, responseFamily],
  ...[pageFamily, pollFamily, resultFamily, requestFamily, receiverFamily, effectFamily, faultFamily],
]

/** Every verdict, for the reference. */
export const verdicts: readonly ConductVerdict[] = families.flatMap((family) => family.verdicts)
