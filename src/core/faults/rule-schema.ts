import type * as z from 'zod'
import { memoizeBySettings } from '../assumptions.ts'
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

/** The schema of a rule as a user writes it. Created on first use: most sandboxes have no rules. */
export const draftSchema = memoizeBySettings(
  (service: Service, settings): z.ZodType<FaultDraft> =>
    together(draftRule(service, settings), (value) =>
      clashes(value, expand(value, service), service.primitives),
    ),
)

/** The schemas of the rules and counters of a state document. */
export const storedSchemas = memoizeBySettings(
  (service: Service, settings): { rule: z.ZodType<FaultRule>; counter: z.ZodType<FaultCounter> } => ({
    rule: together(storedRule(service, settings), (value) => clashes(value, value, service.primitives)),
    counter: ruleCounter(),
  }),
)
