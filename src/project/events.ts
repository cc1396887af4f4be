// What is told of reading a project's artifacts.

/** What was found of the user's project, or why not all of it. */
export type ProjectEvent =
  | { readonly event: 'artifacts'; readonly contracts: number; readonly place: string }
  | { readonly event: 'artifacts'; readonly warning: string }
