module kubeopera.io/local-cluster/pause

go 1.26.0
