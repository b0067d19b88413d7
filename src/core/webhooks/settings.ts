import { z } from 'zod'
import { type Assumptions, choice, setting, unnamedItem } from '../assumptions.ts'
import { duration, durationUpTo, intBetween } from '../fields.ts'
import type { WebhookType } from '../operation.ts'
import { parseDuration } from '../time/instant.ts'
import {
  headerText,
  isStandardSecret,
  MAX_DELAY,
  STANDARD_SECRET,
  signingSecret,
  subscriptionFields,
} from './records.ts'

/** A subscription in the settings. */
type FixedSubscription = z.output<ReturnType<typeof subscriptionFields>>

/** `standard`: that of Standard Webhooks, with rotation of secrets, 410 and Retry-After of receivers. */
export const scheme = choice({
  key: 'webhooks.scheme',
  item: 'U060',
  description:
    'Decides how webhooks are signed: as webhooks.signature says, or by Standard Webhooks, with the headers webhook-id, webhook-timestamp and webhook-signature.',
  values: ['emulator', 'standard'],
})

export const signedTime = choice({
  key: 'webhooks.timestamp',
  item: 'U060',
  description:
    'Decides which time a signature contains: that of the virtual clock, or the real one, which a receiver of your own compares with its clock.',
  values: ['virtual', 'real'],
})

/** The problem of secrets in the settings under Standard Webhooks. */
function secretsClash(
  given: readonly { readonly secret?: string | undefined }[],
  settingOf: (key: string) => unknown,
): string | undefined {
  if (settingOf(scheme.key) !== 'standard') return undefined
  const isWrong = given.some(({ secret }) => secret !== undefined && !isStandardSecret(secret))
  return isWrong ? `has a secret that ${STANDARD_SECRET}` : undefined
}

export const fixedSubscriptions = setting<readonly FixedSubscription[]>({
  key: 'webhooks.subscriptions',
  item: 'U046',
  description:
    'Sets the subscriptions that every sandbox has: [{"url": "http://127.0.0.1:9000/hook", "events": [...], "secret": "..."}]; without events, to all types.',
  // Unchecked: `knownSubscriptions` has checked the value before it is read. Readers do not have the types of webhooks.
  schema: () => z.array(z.custom<FixedSubscription>()),
  default: [],
  clash: secretsClash,
})

const RESERVED =
  /^(host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*|user-agent|x-emulator-delivery|x-emulator-delivery-attempt|webhook-(?:id|timestamp|signature))$/i

const headerName = () =>
  z.string().refine((value) => /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(value) && !RESERVED.test(value), {
    error: 'must be the name of a header that is not reserved',
  })

export const eventHeader = setting({
  key: 'webhooks.event_header',
  item: 'U060',
  description: 'Sets the header with the type of a webhook.',
  schema: headerName,
  default: 'X-Emulator-Event',
})

export const envelope = choice({
  key: 'webhooks.envelope',
  item: 'U060',
  description: 'Sets the body of a webhook: the object alone, or {id, type, created_at, data} around it.',
  values: ['none', 'typed'],
})

/** How webhooks are signed. */
const signatureFields = () =>
  z.strictObject({
    header: headerName(),
    /** Key of the HMAC; the secret of a subscription takes precedence. */
    secret: signingSecret(),
    /** Text before the hexadecimal digits. Default: none. */
    prefix: z.union([z.literal(''), headerText()]).default(''),
    /** Header with the virtual instant of the attempt in Unix seconds, which is signed too; absent: none is sent. */
    timestamp_header: headerName().optional(),
    /** Maximum age of the timestamp for the built-in inbox. */
    tolerance: duration().default('5m'),
  })

export type Signature = z.output<ReturnType<typeof signatureFields>>

/** The header of the signature when only a subscription has a secret. */
export const DEFAULT_SIGNATURE_HEADER = 'X-Emulator-Signature'

export const signature = setting<Signature | null>({
  key: 'webhooks.signature',
  item: 'U060',
  description:
    'Signs every webhook: {"header": "X-Signature", "secret": "...", "prefix": "sha256="}; HMAC-SHA256 of the bytes of the body, in hexadecimal. With "timestamp_header", that header contains Unix seconds, "SECONDS.BODY" is signed, and the inbox reports a webhook as too old beyond "tolerance" (default 5m).',
  schema: () => signatureFields().nullable(),
  default: null,
  clash: (value, settingOf) => secretsClash(value === null ? [] : [value], settingOf),
})

export const retrySchedule = setting<readonly string[]>({
  key: 'webhooks.retry',
  item: 'U060',
  description:
    'Sets the virtual durations from each failed attempt to the next one: ["10s", "5m", "1h"]. An empty list means no retries.',
  schema: () => z.array(durationUpTo(MAX_DELAY)).max(100),
  default: [],
})

export const deliveryTimeout = setting({
  key: 'webhooks.timeout',
  item: 'U060',
  description: 'Decides how long a receiver has to respond, in real time.',
  schema: () =>
    durationUpTo('5m').refine((value) => parseDuration(value) !== 0, { error: 'must be at least 1ms' }),
  default: '10s',
})

export const inboxStatus = setting({
  key: 'webhooks.inbox_status',
  item: 'U060',
  description:
    'Sets the status with which the built-in inbox responds; it keeps a received webhook with any status.',
  schema: () => intBetween(200, 599),
  default: 200,
})

/** The assumptions about webhooks, where the specification is silent, and the settings that change them. */
export function webhookAssumptions(webhookTypes: readonly WebhookType[]): Assumptions {
  return {
    items: [
      unnamedItem(
        'U046',
        'How clients subscribe to webhooks.',
        'The API has no endpoint for it, because the specification names none. Settings, fixtures and the control API create subscriptions.',
        'There is no endpoint whose response could name it.',
      ),
      unnamedItem(
        'U060',
        'Signature, headers, retries, order and time-out of webhook deliveries.',
        'The object as JSON, with its type in the header X-Emulator-Event; unsigned and not retried unless a setting changes this; sent in the order of the transitions; 10 s to respond, and any 2xx is a success.',
        'A delivery is not a response.',
      ),
    ],
    settings: [
      scheme,
      signedTime,
      { ...fixedSubscriptions, schema: () => knownSubscriptions(webhookTypes) },
      eventHeader,
      envelope,
      signature,
      retrySchedule,
      deliveryTimeout,
      inboxStatus,
    ],
  }
}

function knownSubscriptions(webhookTypes: readonly WebhookType[]): z.ZodType<readonly FixedSubscription[]> {
  return z
    .array(subscriptionFields(webhookTypes))
    .refine((list) => new Set(list.map(({ url }) => url)).size === list.length, {
      error: 'must not contain the same url twice',
    })
}
