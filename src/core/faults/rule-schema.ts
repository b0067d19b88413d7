import type * as z from 'zod'
import { oncePerSettings } from '../assumptions.ts'
import type { Service } from '../service.ts'
import { together } from '../strict-input.ts'
import { clashes } from './clashes.ts'
import { expand } from './expand.ts'
import {
  draftRule,
  type FaultCounter,
  type FaultDraft,
  type FaultRule,
  ruleCounter,
  storedRule,
} from './rule.ts'

/** What users and documents say of rules, under one choice of settings. */
export interface RuleSchemas {
  readonly draft: z.ZodType<FaultDraft>
  /** A rule as a state document has it. */
  readonly rule: z.ZodType<FaultRule>
  readonly counter: z.ZodType<FaultCounter>
}

/** The schemas for one choice of settings; made when a rule is first written, since most sandboxes have none. */
export const ruleSchemas = oncePerSettings(
  (service: Service, settings): RuleSchemas => ({
    draft: together(draftRule(service, settings), (value) =>
      clashes(value, expand(value, service), service.primitives),
    ),
    rule: together(storedRule(service, settings), (value) => clashes(value, value, service.primitives)),
    counter: ruleCounter(),
  }),
)
