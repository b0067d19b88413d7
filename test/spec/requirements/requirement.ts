/**
 * The headings of the specification, as `chapter / part`. Two entries are not headings: the first is for the opening
 * paragraph and has the title of the document, the last is for requirements that follow from several chapters.
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
  /** `R001` to `R296`; a test that covers the requirement has this id as a tag. */
  readonly id: `R${number}`
  readonly section: (typeof sections)[number]
  /** One sentence of 20 to 260 characters, unique in the list. */
  readonly description: string
  /** The reason why no test in this repository can cover it, or the later work that it waits for. */
  readonly beyond?: string
}
