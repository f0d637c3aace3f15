export type Breach = string;
