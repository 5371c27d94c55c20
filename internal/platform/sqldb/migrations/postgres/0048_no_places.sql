-- Pages are found along the index of their order: where in a list the records of a day or of a plan are is not counted any more.
DROP TABLE tally_places;
DROP TABLE tally_goods;
