/**
 * The specification's own headings, as `chapter / part`. Two entries are not headings: the opening paragraph
 * goes by the document's title, and what follows only from several chapters together has the last entry.
 */
export const sections = [
  'Interface Specification',
  'What the service does',
  'Resources and their fields / Conventions',
  'Resources and their fields / Page',
  'Resources and their fields / Teamspace',
  'Resources and their fields / Teamspace user (list item)',
  'Resources and their fields / Skill',
  'Resources and their fields / MCP server',
  'Resources and their fields / OAuth callback result',
  'Resources and their fields / Consumption breakdown row',
  'Resources and their fields / Data view',
  'Resources and their fields / Connection redirect',
  'Resources and their fields / Agent template (result of a claim)',
  'Resources and their fields / Event trigger',
  'Resources and their fields / Batch prediction',
  'Resources and their fields / Batch prediction result line',
  'Resources and their fields / Other resources',
  'States and transitions / Batch prediction',
  'States and transitions / Other resources',
  'Endpoints',
  'Endpoints / Message feedback',
  'Endpoints / Claim a generated agent template',
  'Endpoints / Create page',
  'Endpoints / Complete MCP OAuth flow',
  'Endpoints / Update teamspace',
  'Endpoints / Create teamspace',
  'Endpoints / List teamspace users',
  'Endpoints / Delete teamspace user',
  'Endpoints / List consumption breakdown',
  'Endpoints / Promote skill to company',
  'Endpoints / Create connection',
  'Endpoints / List data views',
  'Endpoints / List MCP servers',
  'Endpoints / Delete automation',
  'Endpoints / Update event trigger',
  'Endpoints / Create batch prediction',
  'Endpoints / Retrieve batch prediction',
  'Endpoints / Retrieve batch prediction results',
  'Endpoints / Cancel batch prediction',
  'Endpoints / Success status codes',
  'Endpoints / Endpoints named without a contract',
  'Authentication',
  'Events / Batch prediction webhooks',
  'Events / Inbound provider events (event triggers)',
  'Errors / Standard error body',
  'Errors / Batch prediction errors',
  'Errors / Conditions',
  'Errors',
  'Limits / Rate limits',
  'Limits / Batch predictions',
  'Limits / Field and parameter bounds',
  'Versioning',
  'Across all sections',
] as const

/** One checkable behaviour of the emulated service. */
export interface Requirement {
  /** `R001` to `R296`; a test that shows the requirement has this id among its tags. */
  readonly id: `R${number}`
  readonly section: (typeof sections)[number]
  /** One sentence of 20 to 260 characters, unique in the list. */
  readonly description: string
  /** Why no test of this repository can show it, or which later work it waits for. */
  readonly beyond?: string
}
