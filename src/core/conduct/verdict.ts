import type { Sandbox } from '../sandboxes/sandbox.ts'
import type { ObservedCall } from './calls.ts'
import type { Finding, Severity } from './finding.ts'
import { type Group, groupBy, type ObservedRequest } from './observed.ts'

/** Everything that verdicts know: `observed.ts` reads the log, `calls.ts` groups its requests, and each family looks for facts. */
export interface Observed {
  /** In order of arrival. */
  readonly requests: readonly ObservedRequest[]
  readonly calls: readonly ObservedCall[]
  /** How often the client repeats a failed call, if that was declared. */
  readonly retries: number | undefined
  /** The sandbox as it is now: its clock, records, deliveries and fault rules. */
  readonly sandbox: Sandbox
  /** Notes what the log cannot show, as a sentence. */
  readonly skip: (reason: string) => void
}

/** One rule for the behaviour of clients, for the reference. */
export interface ConductVerdict extends Pick<Finding, 'code' | 'severity' | 'section' | 'fix'> {
  /** One sentence: what the client does. */
  readonly description: string
}

/** What the verdicts of a family have in common. A verdict may replace each of them. */
interface Shared<Fact> {
  readonly section: string
  /** Facts with the same value are one finding. Default: each fact is one. */
  readonly oneFor?: (fact: Fact) => unknown
  readonly requests: (fact: Fact) => readonly ObservedRequest[]
  readonly evidence: (bad: Group<Fact>, observed: Observed) => Finding['evidence']
  /** Default: the severity of the verdict. */
  readonly weigh?: (bad: Group<Fact>, observed: Observed) => Severity
}

/** One verdict: which facts are bad, and the sentence about those of one finding; undefined for none. */
interface Declared<Fact> extends Partial<Shared<Fact>>, Pick<ConductVerdict, 'description' | 'fix'> {
  readonly isBad: (fact: Fact, observed: Observed) => boolean
  readonly message: (bad: Group<Fact>, observed: Observed) => string | undefined
}

/** Verdicts about facts of one kind: calls, waits, pages. The keys are the severity and the code: `error wait.none`. */
interface DeclaredFamily<Fact> extends Shared<Fact> {
  readonly facts: (observed: Observed) => readonly Fact[]
  readonly verdicts: Readonly<Record<`${Severity} ${string}`, Declared<Fact>>>
}

export interface Family {
  readonly verdicts: readonly ConductVerdict[]
  readonly judge: (observed: Observed) => Finding[]
}

export function family<Fact>({ facts, verdicts: declared, ...shared }: DeclaredFamily<Fact>): Family {
  const verdicts = Object.entries(declared).map(([name, own]) => {
    const [severity, code = ''] = name.split(' ') as [Severity, string?]
    return { code, severity, ...shared, ...own }
  })
  return {
    verdicts,
    judge(observed) {
      const all = facts(observed)
      return verdicts.flatMap(({ code, severity, section, fix, isBad, message, ...verdict }) => {
        const bad = all.filter((fact) => isBad(fact, observed))
        const groups = groupBy(bad, verdict.oneFor ?? ((fact) => fact))
        return [...groups.values()].flatMap((group) => {
          const text = message(group, observed)
          if (text === undefined) return []
          const requests = [...new Set(group.flatMap(verdict.requests))].sort((a, b) => a.index - b.index)
          return {
            code,
            severity: verdict.weigh?.(group, observed) ?? severity,
            message: text,
            requests: requests.map(({ id }) => id),
            evidence: verdict.evidence(group, observed),
            section,
            fix,
          }
        })
      })
    },
  }
}
