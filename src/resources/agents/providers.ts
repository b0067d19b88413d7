import * as z from 'zod'
import { type Settings, setting } from '../../core/assumptions.ts'
import { nonEmptyText } from '../../core/fields.ts'
import { oneOfNames } from '../records.ts'

/** What records call the three kinds of provider, whatever the settings name them. Specification: Event trigger. */
export const providers = ['construction_management', 'document_collaboration', 'file_sharing'] as const

export type Provider = (typeof providers)[number]

export const triggerSources = setting<readonly string[]>({
  key: 'names.trigger_sources',
  item: 'U008',
  description: `Identifiers of the three providers whose events fire triggers, in this order: ${providers.join(', ')}.`,
  schema: () =>
    z.array(nonEmptyText()).refine((names) => names.length === 3 && new Set(names).size === 3, {
      error: 'must be three different names',
    }),
  default: providers,
})

/** The provider that a client's name stands for; undefined for a name that the settings do not give. */
function providerOf(name: string, settings: Settings): Provider | undefined {
  return providers[settings.get(triggerSources).indexOf(name)]
}

/** What clients call a provider. */
export function nameOfProvider(provider: Provider, settings: Settings): string {
  return settings.get(triggerSources)[providers.indexOf(provider)] ?? provider
}

/** One of the three providers, as clients name them. */
export function triggerSource(settings: Settings): z.ZodType<string> {
  return oneOfNames(settings.get(triggerSources), triggerSources)
}

/** As a client gives it: one of the names, read as what records call it. */
export function givenSource(settings: Settings): z.ZodType<Provider> {
  return triggerSource(settings).transform((name) => providerOf(name, settings) as Provider) // it is one of the names
}

/** As a record has it: records may use the names of the settings too, but keep ours, so that a change of names breaks no sandbox. */
export function recordedSource(settings: Settings): z.ZodType<Provider> {
  const read = (name: string) => providers.find((each) => each === name) ?? providerOf(name, settings)
  const names = [...new Set([...providers, ...settings.get(triggerSources)])].join(', ')
  return z
    .string()
    .refine((name) => read(name) !== undefined, {
      error: `must be one of ${names}; the setting names.trigger_sources gives other names`,
    })
    .transform((name) => read(name) as Provider) // the refinement has let no other name pass
}
