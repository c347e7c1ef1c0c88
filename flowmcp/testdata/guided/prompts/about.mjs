export const content = `The shop sells {{bookGenres:alias}}. For more: {{skill:choose-book}}`
