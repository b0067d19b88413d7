import { z } from 'zod'
import { listOf, type ShapeOf } from '../fields.ts'

/** The most severe first. */
export const SEVERITIES = ['error', 'warning', 'note'] as const
export type Severity = (typeof SEVERITIES)[number]

/** A verdict on requests of a client, with its evidence. */
const finding = () =>
  z.strictObject({
    /** The verdict: `wait.too-short`. */
    code: z.string(),
    severity: z.enum(SEVERITIES),
    message: z.string(),
    /** Ids of the requests, in order of arrival. */
    requests: z.array(z.string()),
    /** The promised and the actual figures; `records`: the duplicates that exist, each as `collection/id`. */
    evidence: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])),
    /** Section of the specification, or `HTTP` with the section of an RFC. */
    section: z.string(),
    fix: z.string(),
  })

export type Finding = ShapeOf<typeof finding>

/** How the clients of a sandbox have behaved: the most severe findings first, then by their first request. */
export const conductReport = () =>
  listOf(finding()).extend({
    judged: z.strictObject({
      /** Number of calls; a call has one request for each attempt. */
      calls: z.int(),
      requests: z.int(),
      /** Number of requests that the log has dropped. */
      dropped: z.int(),
    }),
    /** What the log cannot show, each as a sentence. */
    not_judged: z.array(z.string()),
  })

export type ConductReport = ShapeOf<typeof conductReport>
