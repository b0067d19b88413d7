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

/** The schemas of rules and counters, for one choice of settings. */
interface RuleSchemas {
  readonly draft: z.ZodType<FaultDraft>
  /** A rule as a state document has it. */
  readonly rule: z.ZodType<FaultRule>
  readonly counter: z.ZodType<FaultCounter>
}

/** Creates the schemas once per choice of settings, on first use: most sandboxes have no rules. */
export const ruleSchemas = oncePerSettings(
  (service: Service, settings): RuleSchemas => ({
    draft: together(draftRule(service, settings), (value) =>
      clashes(value, expand(value, service), service.primitives),
    ),
    rule: together(storedRule(service, settings), (value) => clashes(value, value, service.primitives)),
    counter: ruleCounter(),
  }),
)
