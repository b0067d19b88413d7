import * as z from 'zod'
import { refuseInvalid } from '../../kernel/errors.ts'
import { anyObject, timestamp } from '../../kernel/fields.ts'
import { isObject, type JsonObject } from '../../kernel/json.ts'
import { strictObject } from '../../kernel/strict-input.ts'
import { FASTEST } from '../../kernel/time/clock.ts'
import { zodIssues } from '../../kernel/zod-issues.ts'
import type { EmulatorOptions } from '../../options.ts'
import { isLoopback } from '../loopback.ts'

const texts = z.array(z.string())

const logger = z.custom<EmulatorOptions['logger']>(
  (value) => ['info', 'warn', 'error'].every((level) => typeof Object(value)[level] === 'function'),
  { error: 'must have the functions info, warn and error' },
)

// Plain JavaScript has no types that would say so, and an option that is misspelt would be a default that nobody has chosen.
const SHAPE = {
  port: z.int().min(0).max(65_535),
  host: z.string().min(1),
  allowHosts: texts,
  corsOrigins: texts,
  fixtures: z.custom<string | JsonObject>((value) => typeof value === 'string' || isObject(value), {
    error: 'must be the name of a shipped world, the path of a JSON file, or a fixtures document',
  }),
  settings: anyObject(),
  seed: z.int().min(0),
  clock: timestamp(),
  rate: z.number().min(0).max(FASTEST),
  skipOnPoll: z.boolean(),
  auth: z.enum(['registered', 'any']),
  limits: z.boolean(),
  strict: z.boolean(),
  revealFaults: z.boolean(),
  scenarios: z.string().min(1),
  scenario: z.string(),
  controlToken: z
    .string()
    .regex(/^[\x21-\x7e]+$/, { error: 'must be visible ASCII characters without spaces' }),
  data: z.string().min(1),
  ephemeral: z.boolean(),
  durability: z.enum(['process', 'power']),
  allowWebhooks: texts,
  logger,
} satisfies Record<keyof EmulatorOptions, z.ZodType>

const OPTIONS = strictObject(SHAPE).partial()

/**
 * Refuses options of a start by name and value, and a control interface that other machines could reach without a token.
 * @throws Refusal `validation_failed`, with the JSON Pointer of each
 */
export function checkStartOptions(options: EmulatorOptions): void {
  const { error } = OPTIONS.safeParse(options)
  if (error !== undefined) refuseInvalid(zodIssues(error, ''))
  const { host = '127.0.0.1', controlToken } = options
  if (isLoopback(host) || controlToken !== undefined) return
  const detail = `is required where other machines can reach the emulator, as they can at ${host}: the control interface would be open to them`
  refuseInvalid([{ pointer: '/controlToken', detail }])
}
